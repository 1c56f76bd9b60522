import { ATTEMPT_STEPS, REQUEST_STEPS, type AttemptStep } from '../../src/core/record/metrics/measures.ts';
import { METRICS } from '../../src/core/record/metrics/metrics.ts';
import type { Code } from './code.ts';
import type { RowTexts } from './row-text.ts';

export interface MetricTypes {
  readonly record: string;
  readonly cells: string;
  readonly metricSpec: string;
}

/** Writes the functions that count a request and each of its attempts. */
export function writeMetrics(code: Code, texts: RowTexts, files: MetricTypes): void {
  for (const name of ['RequestRecord', 'RecordedAttempt']) code.type(name, files.record);
  for (const name of ['SeriesCells', 'AttemptCells']) code.type(name, files.cells);
  for (const name of ['RequestSeries', 'AttemptSeries']) code.type(name, files.metricSpec);
  code.type('Counting', files.cells);
  code.add('// Each comment has the metric that the code below it counts.', '');
  code.add('/** The numbers of steps when this was generated. */');
  code.add(`export const GENERATED = { requests: ${REQUEST_STEPS.length}, attempts: ${ATTEMPT_STEPS.length} };`, '');
  code.add(
    'export function countRequest(record: RequestRecord, cells: SeriesCells<RequestSeries>, to: Counting): void {',
  );
  code.begin('record', 'cells', 'to', 'by', 'series', 'exemplar');
  code.add('const { by, series } = cells;', 'const { exemplar } = to;');
  for (const [step, { kind, key, measure }] of REQUEST_STEPS.entries()) {
    code.add(`// ${METRICS[key].name}`);
    if (kind === 'count') block(code, texts.statements(measure, ['record', `to.notes.${key}`]));
    else addValue(code, texts, { measure, of: 'record', first: (value) => `to.first(${step}, by, ${value})`, step });
  }
  code.add('}', '');
  code.add(
    'export function countAttempt(attempt: RecordedAttempt, cells: AttemptCells<AttemptSeries>, to: Counting): void {',
  );
  code.begin('attempt', 'cells', 'to', 'by', 'series', 'exemplar', 'ofTries', 'usage', 'tokens', 'one', 'known');
  code.add('const { by, series, ofTries } = cells;', 'const { exemplar } = to;');
  code.add('const usage = attempt.answered ? attempt.usage : undefined;');
  code.add('// A model that counts seconds or pictures may count no tokens.');
  code.add(
    'const isInTokens = usage !== undefined && usage.seconds === undefined && (!usage.images || usage.total > 0);',
  );
  code.add('const tokens = isInTokens ? usage : undefined;');
  for (const [step, one] of ATTEMPT_STEPS.entries()) {
    code.add(`// ${METRICS[one.key].name}`);
    writeStep(code, texts, step, one);
  }
  code.add('}');
}

function writeStep(code: Code, texts: RowTexts, step: number, { kind, key, measure }: AttemptStep): void {
  const first = (value: string): string => `to.firstOfAttempt(${step}, by, ${value})`;
  if (kind === 'count') block(code, texts.statements(measure, ['attempt', 'by', `to.notes.${key}`]));
  else if (kind === 'attempt') addValue(code, texts, { measure, of: 'attempt', first, step });
  else if (kind === 'try') {
    code.add('for (const one of attempt.tries) {', 'const known = (ofTries[one.outcome] ??= []);');
    const firstOfTry = (value: string): string => `to.firstOfTry(${step}, by, one.outcome, ${value})`;
    addValue(code, texts, { measure, of: 'one', first: firstOfTry, step, series: 'known' });
    code.add('}');
  } else if (kind === 'usage') {
    code.add(`if (usage?.${measure.value}) {`);
    addTo(code, `usage.${measure.value}`, { first, step });
    code.add('}');
  } else {
    code.add(`if (tokens?.${measure.value} !== undefined) {`);
    addTo(code, `tokens.${measure.value}`, { first, step });
    code.add('}');
  }
}

function block(code: Code, lines: readonly string[]): void {
  code.add('{', ...lines, '}');
}

interface Adding {
  readonly first: (value: string) => string;
  readonly step: number;
  readonly series?: string;
}

interface AddedValue extends Adding {
  readonly measure: { readonly counts?: string | undefined; readonly value?: unknown };
  readonly of: string;
}

function addValue(code: Code, texts: RowTexts, { measure, of, ...adding }: AddedValue): void {
  if (measure.counts !== undefined) {
    code.add(`if (${of}.${measure.counts}) {`);
    addTo(code, '1', adding);
    return void code.add('}');
  }
  // A measure that is no count has a property or a function.
  const { before, text } = texts.expression(measure.value as string, of);
  const isProperty = typeof measure.value === 'string';
  const value = isProperty ? text : code.named('value');
  if (!isProperty && before.length === 0) code.add(`const ${value} = ${text};`);
  if (before.length > 0) code.add(`let ${value};`, '{', ...before, `${value} = ${text};`, '}');
  code.add(`if (${value} !== undefined) {`);
  addTo(code, value, adding);
  code.add('}');
}

function addTo(code: Code, value: string, { first, step, series = 'series' }: Adding): void {
  const cell = code.named('cell');
  code.add(`const ${cell} = ${series}[${step}];`);
  code.add(`if (${cell} !== undefined && !${cell}.removed) ${cell}.add(${value}, exemplar);`);
  code.add(`else ${series}[${step}] = ${first(value)};`);
}
