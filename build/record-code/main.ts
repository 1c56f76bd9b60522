/**
 * Writes the code of the access line, of stored records and of span attributes from the tables of fields in src/core/record/fields, and
 * the code that counts a record from the table of metrics: `node build/record-code/main.ts`. With `--check` it writes nothing, names the
 * files that differ and exits with 1.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as kernel from '../../src/core/kernel/index.ts';
import * as costs from '../../src/core/record/costs.ts';
import * as cutText from '../../src/core/record/cut.ts';
import * as attemptFields from '../../src/core/record/fields/attempt-fields.ts';
import * as jsonText from '../../src/core/record/fields/json-text.ts';
import * as recurringTexts from '../../src/core/record/fields/recurring-texts.ts';
import * as requestFields from '../../src/core/record/fields/request-fields.ts';
import * as storedValues from '../../src/core/record/fields/stored-values.ts';
import * as recordSemantic from '../../src/core/record/record-semantic.ts';
import * as attributeBytes from '../../src/addons/otlp/spans/attribute-bytes.ts';
import * as spanFields from '../../src/addons/otlp/spans/span-fields.ts';
import * as libraryMetrics from '../../src/core/record/metrics/library-metrics.ts';
import * as metricSpec from '../../src/core/record/metrics/metric-spec.ts';
import * as upstreamMetrics from '../../src/core/record/metrics/upstream-metrics.ts';
import * as usageMetrics from '../../src/core/record/metrics/usage-metrics.ts';
import { Code, type Exporting } from './code.ts';
import { Fields } from './fields.ts';
import { writeLine } from './line.ts';
import { writeMetrics } from './metrics.ts';
import { RowTexts } from './row-text.ts';
import { BYTES, OBJECTS, writeSpans, type SpanTable } from './spans.ts';
import { writeValues } from './values.ts';

const root = join(import.meta.dirname, '../..');
const RECORD = join(root, 'src/core/record');
const inRecord = (file: string): string => join(RECORD, file);
const inSpans = (file: string): string => join(root, 'src/addons/otlp/spans', file);

const MODULES: readonly Exporting[] = [
  [inRecord('fields/json-text.ts'), jsonText],
  [inRecord('fields/recurring-texts.ts'), recurringTexts],
  [inRecord('fields/stored-values.ts'), storedValues],
  [inSpans('attribute-bytes.ts'), attributeBytes],
  [inRecord('fields/attempt-fields.ts'), attemptFields],
  [inRecord('fields/request-fields.ts'), requestFields],
  [inSpans('span-fields.ts'), spanFields],
  [inRecord('metrics/metric-spec.ts'), metricSpec],
  [inRecord('metrics/library-metrics.ts'), libraryMetrics],
  [inRecord('metrics/upstream-metrics.ts'), upstreamMetrics],
  [inRecord('metrics/usage-metrics.ts'), usageMetrics],
  [inRecord('costs.ts'), costs],
  [inRecord('cut.ts'), cutText],
  [inRecord('record-semantic.ts'), recordSemantic],
  [join(root, 'src/core/kernel/index.ts'), kernel],
].map(([file, module]) => ({ file: file as string, names: Object.keys(module as object) }));

const texts = new RowTexts([
  ...['attempt-fields.ts', 'request-fields.ts'].map((file) => inRecord(`fields/${file}`)),
  inSpans('span-fields.ts'),
  ...['gateway-metrics.ts', 'library-metrics.ts', 'upstream-metrics.ts', 'usage-metrics.ts'].map((file) =>
    inRecord(`metrics/${file}`),
  ),
]);

const record = inRecord('record.ts');
const bounded = inRecord('bounded-record.ts');
const SPANS: readonly SpanTable[] = [
  { name: 'server', fields: spanFields.SERVER_FIELDS, type: 'BoundedRecord', file: bounded },
  { name: 'inference', fields: spanFields.INFERENCE_FIELDS, type: 'RequestRecord', file: record },
  { name: 'place', fields: spanFields.PLACE_FIELDS, type: 'RecordedPlace', file: record },
  { name: 'attempt', fields: attemptFields.ATTEMPT_FIELDS, type: 'RecordedAttempt', file: record },
  { name: 'earlier', fields: spanFields.EARLIER_FIELDS, type: 'RecordedAttempt', file: record },
  { name: 'address', fields: spanFields.ADDRESS_FIELDS, type: 'string', file: record },
  { name: 'call', fields: spanFields.CALL_FIELDS, type: 'string', file: record },
  { name: 'resent', fields: spanFields.RESEND_FIELDS, type: 'number', file: record },
  { name: 'tried', fields: spanFields.TRY_FIELDS, type: 'RecordedTry', file: record },
];

const BANNER = '// Generated from the tables of fields by `node build/record-code/main.ts`. Do not edit.';

function fileOf(file: string, banner: string, write: (code: Code, fields: Fields) => void): readonly [string, string] {
  const code = new Code(file, banner);
  write(code, new Fields(code, texts, bounded));
  return [file, code.text(MODULES)];
}

const files = [
  fileOf(inRecord('fields/line.generated.ts'), BANNER, (code, fields) =>
    writeLine(code, fields, requestFields.REQUEST_FIELDS),
  ),
  fileOf(inRecord('fields/values.generated.ts'), BANNER, (code, fields) =>
    writeValues(code, fields, requestFields.REQUEST_FIELDS),
  ),
  fileOf(inSpans('spans.generated.ts'), BANNER, (code, fields) => {
    code.type('Attributes', '@opentelemetry/api');
    writeSpans(code, fields, SPANS, OBJECTS);
  }),
  fileOf(inSpans('span-attributes.generated.ts'), BANNER, (code, fields) => {
    code.type('Bytes', inSpans('protobuf.ts'));
    writeSpans(code, fields, SPANS, BYTES);
  }),
  fileOf(inRecord('metrics/count.generated.ts'), BANNER.replace('fields', 'metrics'), (code) =>
    writeMetrics(code, texts, {
      record,
      cells: inRecord('metrics/known-cells.ts'),
      metricSpec: inRecord('metrics/metric-spec.ts'),
    }),
  ),
];

const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};
const stale = files.filter(([file, text]) => textOf(file) !== text);
if (process.argv.includes('--check')) {
  for (const [file] of stale) process.stderr.write(`${file} is not what its tables make\n`);
  process.exitCode = stale.length === 0 ? 0 : 1;
} else for (const [file, text] of stale) writeFileSync(file, text);
