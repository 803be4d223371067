/** @param {Parameters<typeof import("node:child_process").spawn>} request */
exports.spawn = (...request) => require("node:child_process").spawn(...request);
