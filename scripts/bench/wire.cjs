// Loaded into the local sandbox before its own code: how long each request took there, from the
// moment its head was read to the moment the answer was handed over. Tells whoever started it, over
// the channel between the two, and begins anew.
const { subscribe } = require("node:diagnostics_channel");

let seen = { calls: 0, ms: 0 };
const begun = new WeakMap();
subscribe("http.server.request.start", ({ request }) => begun.set(request, performance.now()));
subscribe("http.server.response.finish", ({ request }) => {
  seen.calls += 1;
  seen.ms += performance.now() - begun.get(request);
});
process.on("message", () => {
  process.send(seen);
  seen = { calls: 0, ms: 0 };
});
process.channel.unref();
