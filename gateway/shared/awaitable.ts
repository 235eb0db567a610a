// What may be there at once or later: a stage that need not wait costs no turn.

export type Awaitable<T> = T | Promise<T>;
