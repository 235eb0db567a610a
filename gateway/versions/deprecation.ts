// Deprecated and ended operations, and the headers that announce them (RFC 9745, RFC 8594, RFC 5829). Built once per configuration, so that
// a request costs one look-up.

import type { Operation } from '../exchange/operation.ts';
import { pathInLink } from '../shared/http/words.ts';

/** The entry of gateway.yaml for a version or an operation, with days as `2027-01-15`, UTC. */
interface DeprecationEntry {
  readonly released?: string | undefined;
  readonly deprecated?: string | undefined;
  readonly sunset?: string | undefined;
  readonly successor?: string | undefined;
  readonly guide?: string | undefined;
}

interface DeprecationRules {
  readonly versions: Readonly<Record<string, DeprecationEntry>>;
  readonly operations: Readonly<Record<string, DeprecationEntry>>;
}

/** An operation that is deprecated, or will be. */
export interface Deprecation {
  readonly operation: Operation;
  readonly deprecated: string;
  readonly sunset: string | undefined;
  /** The replacement: an operation of the gateway, or a version. */
  readonly successor: string | undefined;
  readonly guide: string | undefined;
  /** Epoch milliseconds; Infinity without a sunset. */
  readonly sunsetMs: number;
  /** Headers of every answer, flat. */
  readonly headers: readonly string[];
}

/** A version that has a sunset. From then on its paths are answered with 410, whether or not its contracts are still loaded. */
export interface VersionEnd {
  readonly sunset: string;
  readonly sunsetMs: number;
  readonly successor: string | undefined;
  readonly headers: readonly string[];
}

export interface Deprecations {
  /** Contains only operations that are deprecated or will be. */
  readonly ofOperations: ReadonlyMap<Operation, Deprecation>;
  readonly ofVersions: ReadonlyMap<string, VersionEnd>;
}

/** Collects the deprecations of a checked configuration, in which names resolve and dates are in order. */
export function deprecationsOf(
  operations: readonly Operation[],
  rules: DeprecationRules,
  publicUrl: string,
): Deprecations {
  const places = placesOf(operations);
  const ofOperations = new Map<Operation, Deprecation>();
  for (const operation of operations) {
    const deprecation = deprecationOf(operation, rules, places, publicUrl);
    if (deprecation !== undefined) ofOperations.set(operation, deprecation);
  }
  const ofVersions = new Map<string, VersionEnd>();
  for (const [name, entry] of Object.entries(rules.versions)) {
    const { sunset, successor } = entry;
    if (sunset === undefined) continue;
    const link = successor === undefined ? undefined : `${publicUrl}/openapi/${successor}.json`;
    const headers = headersOf({ ...entry, link });
    ofVersions.set(name, { sunset, sunsetMs: Date.parse(sunset), successor, headers });
  }
  return { ofOperations, ofVersions };
}

function deprecationOf(
  operation: Operation,
  { versions, operations }: DeprecationRules,
  places: Places,
  publicUrl: string,
): Deprecation | undefined {
  const own: DeprecationEntry = operations[operation.id] ?? {};
  const ofVersion: DeprecationEntry = versions[operation.version ?? ''] ?? {};
  // If several dates apply to one operation, clients need the earliest.
  const deprecated = earlierOf(own.deprecated, ofVersion.deprecated);
  if (deprecated === undefined) return undefined;
  const sunset = earlierOf(own.sunset, ofVersion.sunset);
  const successor = own.successor ?? ofVersion.successor;
  const guide = own.guide ?? ofVersion.guide;
  const link = publicUrl + placeOfSuccessor(operation, own.successor, ofVersion.successor, places);
  const headers = headersOf({ deprecated, sunset, guide, link: link === publicUrl ? undefined : link });
  const sunsetMs = sunset === undefined ? Number.POSITIVE_INFINITY : Date.parse(sunset);
  return Object.freeze({ operation, deprecated, sunset, successor, guide, sunsetMs, headers });
}

function earlierOf(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one < other ? one : other;
}

interface Places {
  readonly byId: ReadonlyMap<string, Operation>;
  /** `GET /v2/jobs/{}` */
  readonly byShape: ReadonlySet<string>;
}

function placesOf(operations: readonly Operation[]): Places {
  return {
    byId: new Map(operations.map((operation) => [operation.id, operation])),
    byShape: new Set(operations.map(({ method, path }) => `${method} ${shapeOf(path)}`)),
  };
}

/** Returns the path of the successor operation, or of the description of the successor version; empty without a successor. */
function placeOfSuccessor(
  { method, path, version }: Operation,
  ofOperation: string | undefined,
  ofVersion: string | undefined,
  { byId, byShape }: Places,
): string {
  const next = ofOperation === undefined ? undefined : byId.get(ofOperation);
  if (next !== undefined) return fixedPart(next.path);
  if (ofVersion === undefined || version === undefined) return '';
  const same = `/${ofVersion}${path.slice(version.length + 1)}`;
  return byShape.has(`${method} ${shapeOf(same)}`) ? fixedPart(same) : `/openapi/${ofVersion}.json`;
}

/** Returns the part of a template before its first parameter. Links are made in advance, and point to the parent collection. */
function fixedPart(template: string): string {
  return pathInLink(template.replace(/\/[^/]*\{.*$/, ''));
}

function shapeOf(template: string): string {
  return template.replace(/\{[^}]*\}/g, '{}');
}

interface SaidDeprecation {
  readonly deprecated?: string | undefined;
  readonly sunset?: string | undefined;
  readonly guide?: string | undefined;
  readonly link: string | undefined;
}

function headersOf({ deprecated, sunset, guide, link }: SaidDeprecation): string[] {
  const headers: string[] = [];
  if (deprecated !== undefined) headers.push('Deprecation', `@${Date.parse(deprecated) / 1000}`);
  if (sunset !== undefined) headers.push('Sunset', new Date(sunset).toUTCString());
  const links: string[] = [];
  if (guide !== undefined) {
    links.push(`<${guide}>; rel="deprecation"; type="text/html"`);
    if (sunset !== undefined) links.push(`<${guide}>; rel="sunset"; type="text/html"`);
  }
  if (link !== undefined) links.push(`<${link}>; rel="successor-version"`);
  if (links.length > 0) headers.push('Link', links.join(', '));
  return headers;
}
