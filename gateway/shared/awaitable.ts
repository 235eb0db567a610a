// A value that is available at once or later, so that a stage that need not wait costs no turn of the event loop.

export type Awaitable<T> = T | Promise<T>;

/** Calls `next` with the value: at once, or when the promise has resolved. */
export function andThen<Value, Result>(
  value: Awaitable<Value>,
  next: (value: Value) => Awaitable<Result>,
): Awaitable<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}
