// The alert store of a gateway without Redis is one file in its data directory. Each write replaces the whole file.

import { readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AlertStore, lastingSilences, type Silence } from './store.ts';

interface Content {
  /** The outboxes. */
  readonly told?: string | undefined;
  readonly silences: readonly Silence[];
}

export const ALERTS_FILE = 'alerts.json';

/** Creates the store. A file that cannot be read is treated as empty, so current causes are reported a second time. */
export function createFileAlertStore(dataDirectory: string, now: () => number): AlertStore {
  const path = join(dataDirectory, ALERTS_FILE);
  let content = read();
  let writing = Promise.resolve();

  function read(): Content {
    try {
      const { told, silences } = JSON.parse(readFileSync(path, 'utf8')) as Content;
      return { told: typeof told === 'string' ? told : undefined, silences: Array.isArray(silences) ? silences : [] };
    } catch {
      return { silences: [] };
    }
  }

  function change(next: Content): Promise<void> {
    content = { ...next, silences: lastingSilences(next.silences, now()) };
    const text = JSON.stringify(content);
    const draft = `${path}.${process.pid}`;
    const written = writing.then(async () => {
      await writeFile(draft, text, { mode: 0o600 });
      await rename(draft, path);
    });
    writing = written.catch(() => undefined);
    return written;
  }

  return {
    take: () => ({ speaks: true, outboxes: content.told, silences: lastingSilences(content.silences, now()) }),
    async write(outboxes) {
      await change({ ...content, told: outboxes });
      return true;
    },
    // The only instance of a file is always the speaker.
    handOver: () => undefined,
    setSilence: (silence) =>
      change({
        ...content,
        silences: [...content.silences.filter(({ causes }) => causes !== silence.causes), silence],
      }),
    async endSilence(causes) {
      const others = content.silences.filter((one) => one.causes !== causes);
      const wasThere = others.length < content.silences.length;
      if (wasThere) await change({ ...content, silences: others });
      return wasThere;
    },
    close: () => writing,
  };
}
