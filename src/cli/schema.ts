import { nearest } from '../plugin/index.ts';
import { SCHEMA_NAMES, type SchemaName } from '../settings/read/schema-files.ts';
import { alternatives } from '../settings/problems/show.ts';
import type { Output } from './output.ts';
import { bundleSchema } from './schema-bundle.ts';

/** `gatehouse schema`. Exit code 2: unknown kind of file. */
export function schemaCommand(kind: string, { out, err }: Output): 0 | 2 {
  if (isSchemaName(kind)) {
    out(schemaText(kind));
    return 0;
  }
  const suggestion = nearest(kind, SCHEMA_NAMES);
  const hint = suggestion === undefined ? `give ${alternatives(SCHEMA_NAMES)}` : `did you mean "${suggestion}"?`;
  err(`gatehouse: there is no schema ${JSON.stringify(kind)}; ${hint}\n`);
  return 2;
}

export const schemaText = (name: SchemaName): string => `${JSON.stringify(bundleSchema(name), null, 2)}\n`;

const isSchemaName = (name: string): name is SchemaName => SCHEMA_NAMES.some((one) => one === name);
