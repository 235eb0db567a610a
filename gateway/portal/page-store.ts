// Keeps resources that are made at their first request. The pages of operations are kept within a bound, and all other resources without a
// bound.

import { LRUCache } from 'lru-cache';
import type { PortalResource } from './resource.ts';

export type Make = () => Promise<PortalResource>;

/**
 * The largest number of bytes of pages of operations that are kept. Pages that were not requested lately are dropped, and made again when
 * they are requested.
 */
const KEPT_BYTES_MAX = 32_000_000;

export interface PageStore {
  has(path: string): boolean;
  paths(): readonly string[];
  /** Returns the page at a path; undefined if there is none. */
  get(path: string): Promise<PortalResource> | undefined;
}

/** Creates the store. @param fixed pages that are always kept @param many pages that are kept within 32 MB */
export function createPageStore(fixed: ReadonlyMap<string, Make>, many: ReadonlyMap<string, Make>): PageStore {
  const kept = new Map<string, Promise<PortalResource>>();
  const lately = new LRUCache<string, PortalResource>({
    maxSize: KEPT_BYTES_MAX,
    sizeCalculation: ({ body, gzip, br }) => body.length + (gzip?.length ?? 0) + (br?.length ?? 0) + 500,
  });
  const inProgress = new Map<string, Promise<PortalResource>>();

  /** Makes a page once. A failure is not kept, so the next request tries again. */
  function makeOnce(path: string, from: Make): Promise<PortalResource> {
    const known = kept.get(path);
    if (known !== undefined) return known;
    const made = from();
    kept.set(path, made);
    made.catch(() => kept.delete(path));
    return made;
  }

  function make(path: string, from: Make): Promise<PortalResource> {
    const known = lately.get(path);
    if (known !== undefined) return Promise.resolve(known);
    const waiting = inProgress.get(path) ?? from().finally(() => inProgress.delete(path));
    inProgress.set(path, waiting);
    return waiting.then((resource) => {
      lately.set(path, resource);
      return resource;
    });
  }

  let all: readonly string[] | undefined;
  function paths(): readonly string[] {
    all ??= [...fixed.keys(), ...many.keys()];
    return all;
  }

  return {
    has: (path) => fixed.has(path) || many.has(path),
    paths,
    get(path) {
      const one = many.get(path);
      if (one !== undefined) return make(path, one);
      const from = fixed.get(path);
      return from && makeOnce(path, from);
    },
  };
}
