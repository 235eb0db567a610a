// Replaces references by name ($id, $anchor, $dynamicAnchor) by references to places of the document (JSON Schema 2020-12, sections 8.2 and
// 8.3), because most readers of documents understand only these. Runs once, when the document is read.

import { type JsonObject, pathOf, uriDecoded, valueAt } from '../pointer.ts';
import { eachSchema } from '../schemas/dialect.ts';

/** A schema with its own base URI, or the document. */
interface Resource {
  readonly uri: string;
  readonly pointer: string;
  readonly schema: unknown;
  /** Pointers by the names of anchors. */
  readonly anchors: Map<string, string>;
}

interface NamedSchema {
  readonly schema: JsonObject;
  readonly pointer: string;
  readonly resource: Resource;
}

/** The base of documents that declare no address. */
const DOCUMENT = 'http://document.invalid/';
const NAMES = /\$(?:id|anchor|dynamicAnchor|dynamicRef)\b/;

/**
 * Changes the document in place. A document stays unchanged if its dynamic references have several targets, because the target then depends
 * on the way to the reference, which only Ajv follows.
 */
export function resolveNames(root: JsonObject, text: string): void {
  if (!NAMES.test(text) || !/^3\.[1-9]/.test(String(root.openapi))) return;
  const { schemas, resources, dynamic } = namesIn(root);
  if (schemas.some(({ schema }) => (dynamic.get(anchorIn(schema.$dynamicRef)) ?? 0) > 1)) return;
  for (const named of schemas) {
    const { schema } = named;
    const target = typeof schema.$ref === 'string' ? targetOf(schema.$ref, named, resources) : undefined;
    if (target !== undefined) schema.$ref = target;
    if (typeof schema.$dynamicRef === 'string')
      followStatically(schema, targetOf(schema.$dynamicRef, named, resources));
  }
  for (const { schema } of schemas)
    for (const keyword of ['$id', '$anchor', '$dynamicAnchor'])
      if (typeof schema[keyword] === 'string') delete schema[keyword];
}

function anchorIn(reference: unknown): string {
  return typeof reference === 'string' ? reference.slice(reference.indexOf('#') + 1) : '';
}

function namesIn(root: JsonObject) {
  const schemas: NamedSchema[] = [];
  const document: Resource = { uri: DOCUMENT, pointer: '', schema: root, anchors: new Map() };
  const resources = new Map<string, Resource>([[DOCUMENT, document]]);
  const dynamic = new Map<string, number>();
  eachSchema(root, document, (schema, pointer, outer) => {
    const resource = resourceOf(schema, pointer, outer);
    if (resource !== outer) resources.set(resource.uri, resource);
    const { $anchor, $dynamicAnchor } = schema;
    for (const name of [$anchor, $dynamicAnchor]) if (typeof name === 'string') resource.anchors.set(name, pointer);
    if (typeof $dynamicAnchor === 'string') dynamic.set($dynamicAnchor, (dynamic.get($dynamicAnchor) ?? 0) + 1);
    schemas.push({ schema, pointer, resource });
    return resource;
  });
  return { schemas, resources, dynamic };
}

function resourceOf(schema: JsonObject, pointer: string, outer: Resource): Resource {
  if (typeof schema.$id !== 'string' || !URL.canParse(schema.$id, outer.uri)) return outer;
  const uri = withoutFragment(new URL(schema.$id, outer.uri));
  return { uri, pointer, schema, anchors: new Map() };
}

function withoutFragment(url: URL): string {
  return url.href.slice(0, url.href.length - url.hash.length).replace(/#$/, '');
}

/** Returns the reference by place; undefined if the reference is already by place, or names nothing in this document, such as a file. */
function targetOf(
  reference: string,
  { resource }: NamedSchema,
  resources: ReadonlyMap<string, Resource>,
): string | undefined {
  if (!URL.canParse(reference, resource.uri)) return undefined;
  const url = new URL(reference, resource.uri);
  const target = resources.get(withoutFragment(url));
  if (target === undefined) return undefined;
  const fragment = url.hash.slice(1);
  if (fragment === '' || fragment.startsWith('/')) {
    // Tools write references to places of the document inside of schemas with names too.
    const isThere = fragment === '' || valueAt(target.schema, pathOf(uriDecoded(fragment))) !== undefined;
    return isThere && target.pointer + fragment !== '' ? `#${encodeURI(target.pointer)}${fragment}` : undefined;
  }
  const anchor = target.anchors.get(uriDecoded(fragment));
  return anchor === undefined ? undefined : `#${encodeURI(anchor)}`;
}

/** If the document has one target, a dynamic reference leads to this target on every way. */
function followStatically(schema: JsonObject, target: string | undefined): void {
  if (target === undefined) return;
  delete schema.$dynamicRef;
  if (schema.$ref === undefined) schema.$ref = target;
  else schema.allOf = [...(Array.isArray(schema.allOf) ? schema.allOf : []), { $ref: target }];
}
