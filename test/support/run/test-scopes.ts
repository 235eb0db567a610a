// Lets node:test find the test that runs by AsyncLocalStorage. By itself it follows each promise of the process through hooks, to know to
// which test it belongs: a tenth of the CPU time of the tests, which the gateway makes millions of promises in. Has to be imported before
// node:test is.

import hooks from 'node:async_hooks';

type Init = NonNullable<Parameters<typeof hooks.createHook>[0]['init']>;
type Any = (...args: unknown[]) => unknown;

const { AsyncLocalStorage, AsyncResource, createHook, executionAsyncId } = hooks;

/** The id of the test, suite or reporter that runs. */
const running = new AsyncLocalStorage<number>();
let noteInit: Init | undefined;

/** The base of the classes of tests and suites: it reports its creation, and runs functions as the test. */
class Scope extends AsyncResource {
  constructor(...[type, options]: ConstructorParameters<typeof AsyncResource>) {
    super(type, options);
    noteInit?.(this.asyncId(), type, 0, this);
  }

  override runInAsyncScope<This, Result>(
    fn: (this: This, ...args: never[]) => Result,
    thisArg?: This,
    ...args: never[]
  ): Result {
    const asThis: Any = () => running.run(this.asyncId(), () => fn.apply(thisArg as This, args));
    return super.runInAsyncScope(asThis) as Result;
  }
}

Object.assign(hooks, {
  AsyncResource: Scope,
  executionAsyncId: () => running.getStore() ?? 0,
  createHook({ init }: { init: Init }) {
    const hook = {
      enable() {
        noteInit = init;
        return hook;
      },
      disable() {
        noteInit = undefined;
        return hook;
      },
    };
    return hook;
  },
});
// node:test takes what it needs when it is loaded; everything else gets what Node has.
await import('node:test');
Object.assign(hooks, { AsyncResource, createHook, executionAsyncId });
