// Reads contract files. Because parsing and linting are slow, a serving gateway runs them in a separate thread (reader.ts), and a start
// uses the results of an earlier start (kept-contracts.ts).

import { dirname } from 'node:path';
import { shownPath, textOf } from '../../shared/file-text.ts';
import { isRecord } from '../../shared/is-record.ts';
import type { Mistake } from '../../shared/mistakes.ts';
import { type Path, positionsIn } from '../../shared/yaml-source.ts';
import { createPositions, type Locate, type Positions } from '../lint/positions.ts';
import { normalizeSchemas } from '../schemas/dialect.ts';
import type { ContractContent } from './contract-content.ts';
import { isWithin } from './files.ts';
import type { KeptContracts } from './kept-contracts.ts';
import type { ParseContract } from './parse.ts';
import { toSwaggerPlace } from './swagger.ts';

/** One OpenAPI document, with schemas in plain JSON Schema 2020-12. */
export interface ContractDocument extends ContractContent {
  /** The file name as messages show it. */
  readonly file: string;
  /** Creates mistakes at places of the file. */
  position(): Positions;
}

/** Reads contracts, in this thread or in another thread. */
export interface ContractReader {
  /**
   * Reads a contract. Resolves with undefined for a file that cannot be read, and for a file without paths, to which only other contracts
   * refer.
   */
  readContract(file: string, mistakes: Mistake[]): Promise<ContractContent | undefined>;
  readonly locate: Locate;
}

/**
 * Creates a reader that runs in this thread.
 *
 * @param directory the directory that references to files may not leave; undefined for the directory of the contract
 * @param kept contracts that an earlier process has read
 */
export function createDirectReader(directory?: string, kept?: KeptContracts): ContractReader {
  let parser: Promise<ParseContract> | undefined;

  const withinOf = (file: string) => directory ?? dirname(file);

  /** Finds a kept contract. Its files must be in the directory, because it may have been kept with another directory. */
  function findKept(file: string, text: string): ContractContent | 'part' | undefined {
    const found = kept?.find(file, text);
    if (found === undefined || found === 'part') return found;
    return found.files.every((one) => one === file || isWithin(withinOf(file), one)) ? found : undefined;
  }

  async function read(file: string, mistakes: Mistake[]): Promise<ContractContent | 'part' | undefined> {
    parser ??= import('./parse.ts').then(({ createContractParser }) => createContractParser());
    const before = mistakes.length;
    const content = await (await parser)(file, withinOf(file), mistakes);
    if (content === undefined) return mistakes.length === before ? 'part' : undefined;
    return { ...content, hasNames: hasPaths(content) && !content.isBroken && normalizeSchemas(content.root) };
  }

  async function readContract(file: string, mistakes: Mistake[]): Promise<ContractContent | undefined> {
    const text = textOf(file);
    if (typeof text !== 'string') {
      mistakes.push({ file: shownPath(file), ...text });
      return undefined;
    }
    let found = findKept(file, text);
    if (found === undefined) {
      const before = mistakes.length;
      found = await read(file, mistakes);
      if (found !== undefined && mistakes.length === before) kept?.keep(file, text, found);
    }
    return found === undefined || found === 'part' || !hasPaths(found) ? undefined : found;
  }

  return { readContract, locate: async (file, spots) => positionsIn(file, spots) };
}

function hasPaths({ root }: Pick<ContractContent, 'root'>): boolean {
  return isRecord(root.paths);
}

export function toDocument(file: string, content: ContractContent): ContractDocument {
  const { files, foreign = {} } = content;
  const fileOf = (path: Path) => files[foreign[path.slice(0, 3).join('/')] ?? 0] ?? file;
  const positions = createPositions(fileOf, content.isSwagger ? toSwaggerPlace : undefined);
  return { file: shownPath(file), ...content, position: () => positions };
}
