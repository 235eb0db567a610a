// Talks to the debugger of a Node process that was started with `--inspect`.

/** The flag that a process is started with, for a debugger on this port. */
export const inspectFlag = (port: number) => `--inspect=127.0.0.1:${port}`;

interface Inspector {
  /** Calls a method of the Chrome DevTools Protocol. Rejects with its error. */
  call(method: string, params?: object): Promise<unknown>;
  close(): void;
}

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

export async function openInspector(port: number): Promise<Inspector> {
  const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
    webSocketDebuggerUrl: string;
  }[];
  if (target === undefined) throw new Error('The process has nothing to debug.');
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = reject;
  });
  const waiting = new Map<number, (reply: Reply) => void>();
  socket.onmessage = ({ data }) => {
    const reply = JSON.parse(String(data)) as Reply;
    waiting.get(reply.id ?? 0)?.(reply);
    waiting.delete(reply.id ?? 0);
  };
  let last = 0;
  return {
    call(method, params = {}) {
      last += 1;
      const id = last;
      socket.send(JSON.stringify({ id, method, params }));
      return new Promise((resolve, reject) => {
        waiting.set(id, ({ result, error }) =>
          error === undefined ? resolve(result) : reject(new Error(error.message)),
        );
      });
    },
    close: () => socket.close(),
  };
}
