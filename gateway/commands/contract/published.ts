// The documents that a configuration publishes at /openapi, for commands that write them to files.

import type { Configuration } from '../../configuration.ts';
import { publishedContracts } from '../../contract/merged/groups.ts';
import type { PublishedContract } from '../../shared/contracts/published-contract.ts';
import { deprecationsOf } from '../../versions/deprecation.ts';

/** @param server the server address in the documents */
export function publishedContractAt({ config, contracts }: Configuration, server: string): PublishedContract[] {
  const operations = contracts.operations.map(({ operation }) => operation);
  const { ofOperations } = deprecationsOf(operations, config.gateway, config.gateway.publicUrl);
  return publishedContracts(contracts.operations, {
    serverOf: () => server,
    isDeprecated: (operation) => ofOperations.has(operation),
    title: config.gateway.portal.title,
  });
}

/** The document, in lines. */
export async function textOfPublished({ json }: PublishedContract): Promise<string> {
  return toJsonText(JSON.parse((await json()).toString('utf8')));
}

export function toJsonText(root: unknown): string {
  return `${JSON.stringify(root, null, 2)}\n`;
}
