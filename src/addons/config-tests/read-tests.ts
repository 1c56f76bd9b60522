import { isMap } from 'yaml';
import type { ConfigTestFile, ConfigTestStep } from '../../../schemas/types.generated.ts';
import { sortDiagnostics, type Diagnostic, type FilePlace } from '../../core/settings/source/diagnostic.ts';
import type { SettingsFiles } from '../../core/settings/source/files.ts';
import { findTestFiles } from '../../core/settings/source/find-files.ts';
import type { JsonPath } from '../../core/settings/schema/pointer.ts';
import { readSettingsFile, type ReadFile } from '../../core/settings/read/read-file.ts';
import { propertiesOf } from '../../core/settings/schema/schema-files.ts';
import { packageSchemas } from '../../core/settings/schema/schemas.ts';
import { keyText, type YamlFile } from '../../core/settings/source/yaml-file.ts';
import type { FullCase } from './case-requests.ts';

export interface TestFile {
  readonly path: string;
  /** The gateway config of cases that name none: the file's name without `.test.yaml`. */
  readonly id: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cases: readonly FullCase[];
  placeOf(path: JsonPath, on?: 'key' | 'value'): FilePlace;
}

interface TestsRead {
  readonly files: readonly TestFile[];
  readonly diagnostics: readonly Diagnostic[];
  readonly paths: readonly string[];
}

/** Reads all tests of a settings folder. Names in them are checked in ./check-tests.ts. */
export async function readTests(folder: string, files: SettingsFiles): Promise<TestsRead> {
  const found = await findTestFiles(folder, files);
  const schemas = packageSchemas();
  const read = await Promise.all(found.map((file) => readSettingsFile(file, { env: {}, files, schemas })));
  return {
    files: read.flatMap((file) => toTestFile(file) ?? []),
    diagnostics: sortDiagnostics(read.flatMap(diagnosticsOf)),
    paths: found.map(({ path }) => path),
  };
}

function toTestFile({ found, yaml, value }: ReadFile): TestFile | undefined {
  if (!yaml || value === undefined) return undefined;
  // ajv has just validated it against the schema this type is generated from.
  const { env = {}, cases } = value as ConfigTestFile;
  return {
    path: found.path,
    id: found.id,
    env,
    cases: cases.map((one) => ({ ...one, configId: one.config === NO_CONFIG ? undefined : (one.config ?? found.id) })),
    placeOf: (path, on) => ({ file: found.path, ...yaml.locate(path, on) }),
  };
}

export const NO_CONFIG = 'none';

function diagnosticsOf(file: ReadFile): readonly Diagnostic[] {
  const { found, yaml, value, diagnostics } = file;
  if (value !== undefined) return withoutMetrics(diagnostics, toTestFile(file));
  if (!yaml || !isGatewayConfig(yaml)) return diagnostics;
  const message = `a file that ends in .test.yaml must contain tests: a gateway config cannot have the id \`${found.id}.test\`; give this file another name`;
  return [{ file: found.path, line: 1, column: 1, severity: 'error', message }];
}

/** Removes false warnings: names of metrics begin like gateway keys (`gatehouse_requests_…`). */
function withoutMetrics(diagnostics: readonly Diagnostic[], tests: TestFile | undefined): readonly Diagnostic[] {
  if (!tests || diagnostics.length === 0) return diagnostics;
  const names = tests.cases.flatMap((one, index) => [
    ...placesOfMetrics(one, tests, ['cases', index]),
    ...(one.next ?? []).flatMap((step, at) => placesOfMetrics(step, tests, ['cases', index, 'next', at])),
  ]);
  return diagnostics.filter(
    ({ severity, line, column }) =>
      severity === 'error' || !names.some((name) => name.line === line && name.column === column),
  );
}

const placesOfMetrics = (
  { expect: { metrics = [] } }: ConfigTestStep,
  tests: TestFile,
  at: JsonPath,
): readonly FilePlace[] => metrics.map((_, index) => tests.placeOf([...at, 'expect', 'metrics', index, 'name']));

/** Whether the file is a gateway config under a wrong name: one message replaces the fifty schema errors. */
function isGatewayConfig({ document: { contents } }: YamlFile): boolean {
  const keys = isMap(contents) ? contents.items.map(keyText) : [];
  const known = packageSchemas()
    .root('gateway')
    .flatMap((schema) => Object.keys(propertiesOf(schema)));
  return !keys.includes('cases') && keys.some((key) => key !== undefined && known.includes(key));
}
