// A value that is available at once or later, so that a stage that need not wait costs no turn of the event loop.

export type Awaitable<T> = T | Promise<T>;
