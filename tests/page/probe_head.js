// Put first into the page: nothing that goes wrong later may pass unseen.
window.complaints = [];
addEventListener("error", (event) => complaints.push(event.message));
addEventListener("unhandledrejection", (event) => complaints.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => complaints.push(`policy: ${event.violatedDirective} ${event.blockedURI}`));
console.error = (...words) => complaints.push(words.join(" "));
