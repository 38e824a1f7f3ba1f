// Evaluated before the page: records every error and console message.
window.complaints = [];
addEventListener("error", (event) => complaints.push(event.message));
addEventListener("unhandledrejection", (event) => complaints.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => complaints.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
console.error = (...words) => complaints.push(words.join(" "));
