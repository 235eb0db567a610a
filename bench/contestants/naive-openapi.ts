// The platform's contracts for openapi-backend: one document of all operations, its references resolved, validated by Ajv of the dialect
// that the contracts are written in.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle, createConfig } from '@redocly/openapi-core';
import { Ajv2020, type Options } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type Document, OpenAPIBackend, ValidationContext } from 'openapi-backend';

const directory = fileURLToPath(new URL('../../openapi/v1', import.meta.url));

export async function loadPlatformApi(): Promise<OpenAPIBackend> {
  const config = await createConfig({ rules: {} });
  const files = readdirSync(directory).filter((file) => file.endsWith('.yaml'));
  const documents = await Promise.all(
    files.map((file) => bundle({ ref: join(directory, file), config, dereference: true })),
  );
  const paths = Object.assign({}, ...documents.map(({ bundle }) => (bundle.parsed as { paths: object }).paths));
  // Copied: schemas that are one object are taken for circular ones.
  const definition = JSON.parse(JSON.stringify({ openapi: '3.1.1', info: { title: 'v1', version: '1' }, paths }));
  const [parameters, bodies] = [createAjv({ coerceTypes: 'array' }), createAjv({})];
  const api = new OpenAPIBackend({
    definition: definition as Document,
    quick: true,
    customizeAjv: (_, __, context) => (context === ValidationContext.Params ? parameters : bodies),
  });
  return api.init();
}

function createAjv(options: Options): Ajv2020 {
  const ajv = new Ajv2020({ strict: false, allErrors: true, ...options });
  addFormats.default(ajv);
  return ajv;
}
