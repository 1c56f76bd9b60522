/**
 * Writes the complete schemas of the settings from schemas/core and schemas/addons, schemas/types.generated.ts and
 * docs/reference/settings from the schemas, src/core/commands/samples.generated.ts from the samples, and the limits, capabilities and prices of models from data/models.json: `node schemas/generate.ts`. Tests regenerate and compare, so none of them can fall behind.
 */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generateModelTable, TABLE_OUTPUT } from './model-table.ts';
import { generateSamples, SAMPLES_OUTPUT } from './samples.ts';
import { fileOf, generateSchemas, generateTypes, OF_ADD_ONS, TYPES_OUTPUT } from './types.ts';

for (const [file, text] of generateSchemas())
  await (text === undefined ? rm(file, { force: true }) : writeFile(file, text));
await writeFile(TYPES_OUTPUT, await generateTypes());
await writeFile(SAMPLES_OUTPUT, generateSamples());
// The pages describe the product with all of its add-ons.
if ([...OF_ADD_ONS.map(fileOf), join(import.meta.dirname, '../src/addons/import')].every((path) => existsSync(path))) {
  // It reads the schemas that have just been written.
  const { generateDocuments } = await import('./document.ts');
  for (const [page, text] of generateDocuments()) await writeFile(page, text);
}
await writeFile(TABLE_OUTPUT, generateModelTable());
// Only a build with prices has their table.
if (existsSync(join(import.meta.dirname, 'addons/budgets.json'))) {
  const { generatePriceTable, PRICES_OUTPUT } = await import('./price-table.ts');
  await writeFile(PRICES_OUTPUT, generatePriceTable());
}
