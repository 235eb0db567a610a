// A thread that writes JSON as YAML, which takes seconds for a large document. Told JSON as bytes, it answers YAML as bytes.

import { parentPort } from 'node:worker_threads';
import { stringify } from 'yaml';

const port = parentPort;
port?.once('message', (json: Uint8Array) => {
  const lines: string[] = [];
  write(JSON.parse(Buffer.from(json).toString('utf8')), '', lines);
  port.postMessage(Buffer.from(lines.join('')));
});

/** How deep a document is taken apart: paths and components are many, and the library keeps all it is given in memory. */
const DEPTH = 3;

function write(object: Record<string, unknown>, indent: string, lines: string[]): void {
  for (const [name, value] of Object.entries(object)) {
    if (indent.length < DEPTH * 2 && isMap(value)) {
      lines.push(`${indent}${stringify(name).trimEnd()}:\n`);
      write(value, `${indent}  `, lines);
    } else {
      const text = stringify({ [name]: value }, { aliasDuplicateObjects: false, lineWidth: 110 });
      lines.push(indent === '' ? text : text.replace(/^(?=.)/gm, indent));
    }
  }
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}
