import { readFileSync } from 'node:fs';
import { packageFile } from '../../../core/kernel/package-root.ts';
import { SHIPPED_PRICES, type PriceTable } from '../prices/price-table.ts';
import { compileTable, type SourceTable } from '../prices/source-table.ts';
import type { Diagnostic } from '../../../core/settings/source/diagnostic.ts';
import { schemaProblems } from '../../../core/settings/problems/schema-problems.ts';
import type { SettingsFiles } from '../../../core/settings/source/files.ts';
import { YamlFile } from '../../../core/settings/source/yaml-file.ts';
import { absoluteRefs, SchemaTree, type Schema } from '../../../core/settings/schema/schema-files.ts';
import { createAjv } from '../../../core/settings/schema/settings-ajv.ts';

/** A table in the form of data/models.json. */
interface ReadPriceTable {
  /** Undefined for a file with mistakes. */
  readonly source: SourceTable | undefined;
  /** The shipped prices under it. */
  readonly table: PriceTable;
  readonly text: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** @param name the path in diagnostics */
export async function readPriceTable(path: string, files: SettingsFiles, name = path): Promise<ReadPriceTable> {
  const content = await files.read(path);
  if (!('text' in content)) {
    const message = 'missing' in content ? 'this file is missing' : `this file ${content.problem}`;
    return unread('', [{ file: name, line: 1, column: 1, severity: 'error', message }]);
  }
  const { text } = content;
  const yaml = YamlFile.parse(name, text);
  if (yaml.syntaxErrors.length > 0) return unread(text, yaml.syntaxErrors);
  const json: unknown = yaml.document.toJS();
  const broken = brokenBySchema(json).map((problem) => yaml.diagnose(problem));
  if (broken.length > 0) return unread(text, broken);
  // The schema has just been checked.
  const source = json as SourceTable;
  const diagnostics: Diagnostic[] = [];
  const rows = compileTable(source, (at, message) => diagnostics.push(yaml.diagnose({ path: at, message })));
  if (diagnostics.length > 0) return unread(text, diagnostics);
  if (source.as_of < SHIPPED_PRICES.asOf) {
    const message = `the prices of this table are older (${source.as_of}) than the shipped ones (${SHIPPED_PRICES.asOf}), before which they stand`;
    diagnostics.push(yaml.diagnose({ path: ['as_of'], severity: 'warning', message }));
  }
  return { source, table: SHIPPED_PRICES.with(source.as_of, rows), text, diagnostics };
}

const unread = (text: string, diagnostics: readonly Diagnostic[]): ReadPriceTable => ({
  source: undefined,
  table: SHIPPED_PRICES,
  text,
  diagnostics,
});

function brokenBySchema(json: unknown): ReturnType<typeof schemaProblems> {
  const raw = JSON.parse(readFileSync(packageFile('data/models.schema.json'), 'utf8')) as Schema;
  const schema = absoluteRefs(raw, String(raw['$id']));
  const validate = createAjv({ trusted: true }).addSchema(schema).getSchema(String(raw['$id']))!;
  if (validate(json)) return [];
  const tree = new SchemaTree([schema]);
  return schemaProblems(validate.errors ?? [], { json, origins: new Map() }, { tree, root: tree.alternatives(schema) });
}
