// The worker thread that converts JSON to YAML, which takes seconds for a large document. Receives JSON and replies with YAML, both as
// bytes.

import { parentPort } from 'node:worker_threads';
import { stringify } from 'yaml';
import { isRecord } from '../shared/is-record.ts';

const port = parentPort;
port?.once('message', (json: Uint8Array) => {
  const lines: string[] = [];
  write(JSON.parse(Buffer.from(json).toString('utf8')), '', lines);
  port.postMessage(Buffer.from(lines.join('')));
});

/** The depth to which a document is split, because the library keeps its whole input in memory, and paths and components are large. */
const DEPTH = 3;

/** Quotes text that YAML 1.1, which many readers still use, does not read as text, such as dates, `yes` and `12:30`. */
const YAML_OPTIONS = { compat: 'yaml-1.1', aliasDuplicateObjects: false, lineWidth: 110 } as const;

function write(object: Record<string, unknown>, indent: string, lines: string[]): void {
  for (const [name, value] of Object.entries(object)) {
    if (indent.length < DEPTH * 2 && isMap(value)) {
      lines.push(`${indent}${stringify(name, YAML_OPTIONS).trimEnd()}:\n`);
      write(value, `${indent}  `, lines);
    } else {
      const text = stringify({ [name]: value }, YAML_OPTIONS);
      lines.push(indent === '' ? text : text.replace(/^(?=.)/gm, indent));
    }
  }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && Object.keys(value).length > 0;
}
