// Groups operations into published documents, one per version of the API, and one per upstream for operations without a version.

import type { Operation } from '../../exchange/operation.ts';
import type { PublishedContract, PublishedOperation } from '../../shared/contracts/published-contract.ts';
import { entryOfUpstream } from '../../shared/contracts/upstreams.ts';
import type { ContractOperation } from '../operations/operations.ts';
import { isRecord, type JsonObject } from '../pointer.ts';
import type { ContractDocument } from '../reading/document.ts';
import { createYieldToLoop } from '../yield-to-loop.ts';
import { type DocumentHead, joinContracts } from './join.ts';
import { webhooksOf } from './webhooks.ts';

/** Settings that the published documents depend on. */
export interface PublishedContext {
  /** Returns the base URL at which clients reach the operations of an upstream. */
  serverOf(upstream: string): string;
  isDeprecated(operation: Operation): boolean;
  /** The name of the API, for documents that are made from several contracts. Default: `API`. */
  readonly title?: string | undefined;
}

export function publishedContracts(
  operations: readonly ContractOperation[],
  { serverOf, isDeprecated, title: api = 'API' }: PublishedContext,
): PublishedContract[] {
  const groups = Map.groupBy(
    inReadingOrder(operations),
    ({ operation }) => operation.version ?? entryOfUpstream(operation.upstream),
  );
  return [...groups].map(([name, members]) => {
    const head = headOf(name, members, serverOf, api);
    const { title, description } = head.info;
    return {
      name,
      title: String(title),
      description: typeof description === 'string' ? description : '',
      server: String(head.servers[0]?.url),
      tags: taggedBy(members, head.tags),
      operations: members.map((entry) => forDocumentation(entry, isDeprecated(entry.operation))),
      webhooks: webhooksOf(members).map(({ name, item, document: { root } }) => ({ name, item, root })),
      json: () => collect(joinContracts(head, members, isDeprecated)),
    };
  });
}

/** `x-tagGroups`, by which Redoc and other readers of OpenAPI order many tags, is taken from every document. */
function taggedBy(members: readonly ContractOperation[], tags: readonly JsonObject[]): PublishedContract['tags'] {
  const documents = new Set(members.map(({ document }) => document));
  const listed = [...documents].flatMap(({ root }) => objectsIn(root['x-tagGroups']));
  const groupOf = new Map(
    listed.flatMap(({ name, tags: own }) =>
      typeof name === 'string' && Array.isArray(own) ? own.map((tag) => [tag, name] as const) : [],
    ),
  );
  return tags.map((tag) => ({
    name: String(tag.name),
    description: textAt(tag, 'description'),
    group: groupOf.get(tag.name),
  }));
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function forDocumentation(
  { operation, located, document, parameters }: ContractOperation,
  isDeprecated: boolean,
): PublishedOperation {
  const declared = isRecord(located.value) ? located.value : {};
  return {
    ...operation,
    summary: textAt(declared, 'summary'),
    description: textAt(declared, 'description'),
    tags: tagsOf(declared),
    isDeprecated: isDeprecated || declared.deprecated === true,
    declared,
    root: document.root,
    parameters: parameters.map(({ value }) => value).filter(isRecord),
    files: document.files,
  };
}

function textAt(value: JsonObject, name: string): string {
  const text = value[name];
  return typeof text === 'string' ? text : '';
}

/** The order of methods at a path in documentation; other methods follow unsorted. */
const METHOD_ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

function inReadingOrder(operations: readonly ContractOperation[]): ContractOperation[] {
  const rank = ({ operation: { method } }: ContractOperation) =>
    METHOD_ORDER.indexOf(method) + 1 || METHOD_ORDER.length + 1;
  const byPath = Map.groupBy(operations, ({ operation: { path } }) => path);
  return [...byPath.values()].flatMap((here) => here.sort((one, other) => rank(one) - rank(other)));
}

async function collect(pieces: Iterable<string>): Promise<Buffer> {
  const pause = createYieldToLoop();
  const buffers: Buffer[] = [];
  for (const piece of pieces) {
    if (piece !== '') buffers.push(Buffer.from(piece));
    await pause();
  }
  return Buffer.concat(buffers);
}

function headOf(
  name: string,
  members: readonly ContractOperation[],
  serverOf: (upstream: string) => string,
  api: string,
): DocumentHead & { readonly tags: readonly JsonObject[] } {
  const documents = [...new Set(members.map(({ document }) => document))];
  const servers = [...new Set(members.map(({ operation }) => serverOf(operation.upstream)))];
  const used = new Set(members.flatMap(({ located }) => tagsOf(located.value)));
  const tags = documents.flatMap(({ root }) => objectsIn(root.tags));
  const byName = new Map(tags.toReversed().map((tag) => [String(tag.name), tag]));
  return {
    // Documents that use features of OpenAPI 3.2 must declare 3.2.
    openapi: documents.some(({ root }) => String(root.openapi).startsWith('3.2')) ? '3.2.0' : '3.1.1',
    info: withLicenceId(
      documents.length === 1 ? infoOf(documents[0] as ContractDocument) : commonInfo(name, documents, api),
    ),
    servers: servers.map((url) => ({ url })),
    tags: [...byName.values()].toReversed().filter((tag) => used.has(String(tag.name))),
  };
}

function infoOf({ root }: ContractDocument): JsonObject {
  return isRecord(root.info) ? root.info : { title: 'API', version: '1' };
}

function commonInfo(name: string, documents: readonly ContractDocument[], api: string): JsonObject {
  const titles = documents.map((document) => String(infoOf(document).title));
  const versions = new Set(documents.map((document) => String(infoOf(document).version)));
  const [version = name] = versions;
  return {
    title: `${api} ${name}`,
    version: versions.size === 1 ? version : name,
    description: `Everything under \`/${name}\`: ${titles.join(', ')}.`,
    ...sharedInfo(documents),
  };
}

/** The licences that documents name most often, as https://spdx.org/licenses spells them. */
const SPDX: ReadonlySet<string> = new Set([
  ...['0BSD', 'AGPL-3.0-only', 'AGPL-3.0-or-later', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BSL-1.0'],
  ...['CC-BY-4.0', 'CC-BY-SA-4.0', 'CC0-1.0', 'EUPL-1.2', 'GPL-2.0-only', 'GPL-2.0-or-later', 'GPL-3.0-only'],
  ...['GPL-3.0-or-later', 'ISC', 'LGPL-2.1-only', 'LGPL-3.0-only', 'LGPL-3.0-or-later', 'MIT', 'MPL-2.0', 'Unlicense'],
]);

/** Returns the members about the publisher that have the same value in all documents that contain them. */
function sharedInfo(documents: readonly ContractDocument[]): JsonObject {
  const shared: JsonObject = {};
  for (const name of ['termsOfService', 'contact', 'license']) {
    const values = documents.map((document) => infoOf(document)[name]).filter((value) => value !== undefined);
    if (new Set(values.map((value) => JSON.stringify(value))).size === 1) shared[name] = values[0];
  }
  return shared;
}

/**
 * OpenAPI 3.1 allows a licence with only a name, but openapi-generator (7.14 to 7.26) refuses a licence without `identifier` or `url`. A
 * name that is not an SPDX identifier becomes a `LicenseRef-`, SPDX's form for other licences.
 */
function withLicenceId(info: JsonObject): JsonObject {
  const { license } = info;
  if (!isRecord(license) || license.identifier !== undefined || license.url !== undefined) return info;
  const id = String(license.name).trim();
  const other = `LicenseRef-${id.replace(/[^A-Za-z0-9.-]+/g, '-').replace(/^-+|-+$/g, '') || 'unnamed'}`;
  return { ...info, license: { ...license, identifier: SPDX.has(id) ? id : other } };
}

function tagsOf(operation: unknown): string[] {
  return isRecord(operation) && Array.isArray(operation.tags) ? operation.tags.map(String) : [];
}
