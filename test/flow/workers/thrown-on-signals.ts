// Loaded beside the gateway by tests: mistakes in the code of a process, made when a signal comes. Nothing catches them.

process.on('SIGWINCH', () => {
  throw new TypeError('thrown for a test');
});
process.on('SIGPWR', () => {
  Promise.reject(new TypeError('rejected for a test'));
});
