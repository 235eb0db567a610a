// Kubernetes objects against the types of the Kubernetes API (the package kubernetes-types), by the compiler: unknown members, values of
// another kind and members that are missing are all reported.

import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';
import { temporaryDirectory } from '../directory.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
export const manifestsDirectory = join(root, 'deploy/kubernetes');

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** Returns the objects of one file of deploy/kubernetes. */
export function readManifests(file: string): Manifest[] {
  const documents = parseAllDocuments(readFileSync(join(manifestsDirectory, file), 'utf8'));
  return (Array.isArray(documents) ? documents : []).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS() as Manifest;
  });
}

/** All files with objects of Kubernetes itself. */
export function manifestFiles(): string[] {
  const files = readdirSync(manifestsDirectory).filter((file) => file.endsWith('.yaml'));
  return files.filter((file) => file !== 'kustomization.yaml').sort();
}

/** Returns the faults of each object, by its name; none if it is valid for the API. One run of the compiler checks all. */
export async function complaintsAbout(objects: Readonly<Record<string, object>>): Promise<Record<string, string[]>> {
  const directory = temporaryDirectory();
  try {
    symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
    const names = Object.keys(objects);
    for (const [at, name] of names.entries())
      writeFileSync(join(directory, `m${at}.ts`), sourceOf(objects[name] as Manifest));
    const options = [
      '--noEmit',
      '--strict',
      '--pretty',
      'false',
      '--module',
      'nodenext',
      '--skipLibCheck',
      '--types',
      '',
    ];
    const output = await compile([...options, ...names.map((_, at) => `m${at}.ts`)], directory);
    const lines = output.split('\n').filter((line) => line !== '');
    return Object.fromEntries(names.map((name, at) => [name, lines.filter((line) => line.startsWith(`m${at}.ts`))]));
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function sourceOf(object: Manifest): string {
  const group = object.apiVersion.includes('/')
    ? object.apiVersion.replace(/\.k8s\.io/, '')
    : `core/${object.apiVersion}`;
  return `import type { ${object.kind} } from 'kubernetes-types/${group}';\nexport const object: ${object.kind} = ${JSON.stringify(object, null, 1)};\n`;
}

function compile(args: string[], cwd: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(join(root, 'node_modules/.bin/tsc'), args, { cwd }, (_error, stdout, stderr) => resolve(stdout + stderr));
  });
}
