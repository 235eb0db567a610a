// The list of tools that a caller gets. Callers with the same rights share one list, which is kept as the bytes of its pages.

import type { Caller } from '../exchange/caller.ts';
import { definitionText, type MayUse, type Tool } from './tool.ts';

/** The tools of one caller. */
export interface ToolList {
  readonly tools: readonly Tool[];
  /** Whether the list contains the three tools of mode `search` instead. */
  readonly isSearched: boolean;
  /** The JSON texts of the definitions, in pages. Most lists have one page. */
  readonly pages: readonly string[];
}

interface ListsOptions {
  readonly tools: readonly Tool[];
  readonly mayUse: MayUse;
  readonly mode: 'auto' | 'list' | 'search';
  readonly toolsMax: number;
  readonly listBytesMax: number;
  /** The definitions of the tools of mode `search`. */
  readonly searchTools: readonly string[];
  /** Resolves when other work may have run. */
  pause(): Promise<void> | undefined;
}

/**
 * Maximum number of lists in memory. There is one for each set of rights, and an installation has a few sets. Under an attack with many
 * keys, lists are dropped and made again.
 */
const LISTS_MAX = 32;
/** A page of a long list. */
const PAGE_BYTES = 262_144;

/** The list of callers with the same rights, without its texts if it was not used lately. */
interface SharedList {
  /** One character per tool. */
  readonly rights: string;
  list: Promise<ToolList> | undefined;
}

export function createLists(options: ListsOptions) {
  const { tools, mayUse } = options;
  /** The lists by rights, in the order of their last use. */
  const recent = new Map<string, SharedList>();
  /** The list of each caller. It is a reference, because a text for each caller would take more memory than all lists. */
  const ofCallers = new WeakMap<Caller, SharedList>();

  function sharedListOf(caller: Caller): SharedList {
    const known = ofCallers.get(caller);
    if (known !== undefined) return known;
    const rights = tools.map(({ operation }) => (mayUse(caller, operation) ? '1' : '0')).join('');
    const shared = recent.get(rights) ?? { rights, list: undefined };
    ofCallers.set(caller, shared);
    return shared;
  }

  return function listOf(caller: Caller): Promise<ToolList> {
    const shared = sharedListOf(caller);
    recent.delete(shared.rights);
    recent.set(shared.rights, shared);
    if (recent.size > LISTS_MAX) forgetOldest();
    shared.list ??= makeList(shared);
    return shared.list;
  };

  function forgetOldest(): void {
    const [oldest] = recent.values();
    if (oldest === undefined) return;
    recent.delete(oldest.rights);
    oldest.list = undefined;
  }

  function makeList(shared: SharedList): Promise<ToolList> {
    const list = toList(
      tools.filter((_, index) => shared.rights[index] === '1'),
      options,
    );
    list.catch(() => {
      // A failure is not kept.
      shared.list = undefined;
    });
    return list;
  }
}

async function toList(tools: readonly Tool[], options: ListsOptions): Promise<ToolList> {
  const { mode, toolsMax, listBytesMax, pause } = options;
  const searched = { tools, isSearched: true, pages: [options.searchTools.join(',')] };
  if (mode === 'search' || (mode === 'auto' && tools.length > toolsMax)) return searched;
  const texts: string[] = [];
  let bytes = 0;
  for (const tool of tools) {
    await pause();
    const text = definitionText(tool);
    bytes += Buffer.byteLength(text) + 1;
    if (mode === 'auto' && bytes > listBytesMax) return searched;
    texts.push(text);
  }
  return { tools, isSearched: false, pages: pagesOf(texts) };
}

function pagesOf(texts: readonly string[]): string[] {
  const pages: string[][] = [[]];
  let bytes = 0;
  for (const text of texts) {
    if (bytes > 0 && bytes + text.length > PAGE_BYTES) {
      pages.push([]);
      bytes = 0;
    }
    pages.at(-1)?.push(text);
    bytes += text.length;
  }
  return pages.map((page) => page.join(','));
}
