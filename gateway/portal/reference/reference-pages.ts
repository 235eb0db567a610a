// Adds the pages of the reference: the list of all contracts, and the overview, the resources, the operations and the documents of each
// contract.

import { setImmediate as turn } from 'node:timers/promises';
import type { ErrorCode } from '../../catalogue/errors.ts';
import { createFileDates } from '../file-dates.ts';
import { toResource } from '../resource.ts';
import type { SiteMap } from '../site-map.ts';
import { toYaml } from '../yaml.ts';
import type { AddressedContract, OperationAddress } from './addresses.ts';
import { operationPage } from './operation-page.ts';
import { contentsOf, overviewPage, referencesPage } from './overview.ts';
import { postmanCollection } from './postman.ts';
import type { DocumentTools } from './reference.ts';
import { resourcePage } from './resource-page.ts';
import { webhookPage } from './webhook-page.ts';

interface ReferenceOptions {
  readonly references: readonly AddressedContract[];
  readonly publicUrl: string;
  readonly tools: DocumentTools;
  /** Names of the guides. */
  readonly guides: ReadonlySet<string>;
  readonly codes: readonly ErrorCode[];
}

/** Adds the list of all contracts. */
export function addReferenceList(site: SiteMap, references: readonly AddressedContract[]): void {
  site.addPage('/docs/reference', () => referencesPage(references));
}

/** Adds what belongs to one contract. */
export function addContractPages(
  site: SiteMap,
  own: AddressedContract,
  { references, publicUrl, tools, guides, codes }: ReferenceOptions,
): void {
  const contract = own.reference;
  const { name, server, operations } = contract;
  const updated = createFileDates();
  const files = [...new Set(operations.flatMap((operation) => operation.files))];
  site.addPage(own.path, async () => overviewPage(own, references, await updated(files)));
  const page = async (at: OperationAddress) =>
    operationPage(at, own, {
      tools,
      publicUrl,
      guides,
      codes,
      contents: contentsOf(references, own, at),
      isOwnOrigin: server === publicUrl,
      updatedMs: await updated(at.operation.files),
    });
  for (const group of own.groups)
    site.addOneOfMany(group.path, async () =>
      resourcePage(group, own, {
        tools,
        contents: contentsOf(references, own, { group }),
        updatedMs: await updated(group.operations.flatMap(({ operation }) => operation.files)),
      }),
    );
  for (const at of own.operations) site.addOneOfMany(at.path, () => page(at));
  for (const webhook of own.webhooks)
    site.addOneOfMany(webhook.path, async () => {
      const contents = contentsOf(references, own, { webhook });
      return webhookPage(webhook, own, { tools, contents, updatedMs: await updated(files) });
    });
  site.add(`${own.path}.postman.json`, async () =>
    toResource('document', 'application/json', await postmanCollection(own, tools, turn)),
  );
  site.add(`/openapi/${name}.json`, async () => toResource('document', 'application/json', await contract.json()));
  site.add(`/openapi/${name}.yaml`, async () =>
    toResource('document', 'application/yaml', await toYaml(await contract.json())),
  );
}
