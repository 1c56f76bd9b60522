import { FAILURE_KINDS } from '../../../../plugin/failures.ts';
import type {
  CacheExplanation,
  Explanation,
  PluginExplanation,
  RetirementExplanation,
  TargetExplanation,
} from '../explanation.ts';
import { bodyRows, diffRows, headerRows, sendRows } from './bodies.ts';
import { answerRows, pluginRows } from './head.ts';
import { INDENT, LABEL_WIDTH, row, span, type Line, type Row, type Section } from './layout.ts';
import { arrow, aside, at, duration, fieldsText, from, listed, shortText, valueText } from './words.ts';

/** `target 1  config.targets[0] "fast"  ← configs/gateway/prod.yaml:21:5` */
export function targetTitle({ number, target, name, at: place }: TargetExplanation): Line {
  const named = name === undefined ? [] : [span(` ${JSON.stringify(name)}`)];
  return [
    span(`target ${number + 1}`.padEnd(LABEL_WIDTH + INDENT), 'title'),
    span(target, 'value'),
    ...named,
    span('  '),
    ...at(place),
  ];
}

export function targetSections(
  reported: TargetExplanation,
  { plugins, targets }: Pick<Explanation, 'plugins' | 'targets'>,
): Section[] {
  const { outbound } = reported;
  const own = plugins.filter(({ chain, target }) => chain === 'attempt' && target === reported.number);
  const next = targets[reported.number + 1];
  const sections: Section[] = [
    { label: 'why', rows: whyRows(reported) },
    { label: 'health', rows: healthRows(reported) },
    { label: 'provider', rows: providerRows(reported) },
    { label: 'retires', rows: reported.retires ? retirementRows(reported.retires) : [] },
    { label: 'plugins', rows: pluginRows(own.map((plugin) => withoutRepetition(plugin, reported))) },
    { label: 'body', rows: bodyRows(reported) },
    ...(outbound
      ? [
          { label: 'sends', rows: sendRows(outbound) },
          { label: 'headers', rows: headerRows(outbound) },
          { label: 'diff', rows: diffRows(outbound) },
        ]
      : []),
    {
      label: 'lost',
      rows: reported.losses.map(({ param, action, reason }) =>
        row([span(param, 'warn'), span(` ${action}`), aside(`  ${reason}`)]),
      ),
    },
    {
      label: 'default',
      rows: reported.defaulted.map(({ param, value, reason, source }) =>
        row([span(param, 'warn'), span(` ${value}`), aside(`  ${reason}`)], from(source)),
      ),
    },
    { label: 'refused', rows: reported.refused ? answerRows(reported.refused) : [] },
    { label: 'cache', rows: reported.cache ? cacheRows(reported.cache) : [] },
    {
      label: 'timeouts',
      rows: Object.entries(reported.timeouts).map(([name, { ms, source }]) =>
        row(`${name} ${duration(ms)}`, from(source)),
      ),
    },
    { label: 'retry', rows: [retryRow(reported)] },
    { label: 'commit', rows: reported.commit === 'first_content' ? [] : [row(reported.commit)] },
    { label: 'reply', rows: reported.reply === undefined ? [] : [row(reported.reply)] },
    { label: 'then', rows: [nextRow(reported, next)] },
    { label: 'metrics', rows: metricRows(reported) },
  ];
  return sections.filter(({ rows }) => rows.length > 0);
}

/** Rejections and sent requests have sections of their own. */
const withoutRepetition = (plugin: PluginExplanation, { outbound }: TargetExplanation): PluginExplanation => ({
  ...plugin,
  refused: undefined,
  does: plugin.plugin === 'send' && outbound ? undefined : plugin.does,
});

/** Texts for the choice reasons of a request's record. */
const WHY: Readonly<Record<string, string>> = {
  only: 'the only target',
  first: 'the first of a fallback',
  weight: 'drawn by weight',
  sticky: 'drawn by weight, the same for equal sticky values',
  condition: 'a condition matches',
  otherwise: 'no condition matches',
  fallback: 'earlier targets failed or were skipped',
  probe: 'it probes a target with a half-open circuit breaker',
  last_resort: 'no other target takes the request',
};

const whyRows = ({ why, shares }: TargetExplanation): Row[] => [
  row(WHY[why] ?? why),
  ...shares.map(({ group, weight, of, at: place }) =>
    row(
      [
        span(`${weight} of ${of}`),
        aside(` in ${group}${of > 0 ? ` (${Math.round((weight / of) * 1000) / 10} %)` : ''}`),
      ],
      at(place),
    ),
  ),
];

function healthRows({ health: { state, retryInMs, enforced } }: TargetExplanation): Row[] {
  if (state === 'closed')
    return [row([span('healthy', 'good'), aside(enforced ? '' : '  (no circuit breaker is enforced)')])];
  const again = retryInMs === undefined ? '' : `, next probe in ${duration(retryInMs)}`;
  return [
    row([span(state, 'bad'), span(again), aside(enforced ? '' : '  (still used: no circuit breaker is enforced)')]),
  ];
}

const providerRows = ({ provider }: TargetExplanation): Row[] =>
  provider
    ? [
        row(
          [
            span(`@${provider.slug}`, 'value'),
            span(`/${provider.model}`),
            aside(`  ${provider.provider}, ${provider.format}`),
          ],
          at(provider.at),
        ),
        ...(provider.fields ? [row([aside(`takes ${fieldsText(provider.fields)}`)])] : []),
      ]
    : [];

const retirementRows = ({ day, successor, loses }: RetirementExplanation): Row[] => [
  row([span(day, 'warn'), ...(successor === undefined ? [] : [span(', successor '), span(successor, 'value')])]),
  ...loses.map((lost) => row([aside('loses '), span(lost)])),
];

const cacheRows = ({ key, parts, maxAgeMs, scope, source, now, near }: CacheExplanation): Row[] => [
  row(`for ${duration(maxAgeMs)}, shared within: ${scope}`, from(source)),
  ...(now === '' ? [] : [row(now)]),
  ...(near === undefined ? [] : [row(`by meaning: ${near}`)]),
  row([aside(key === '' ? 'parts of the key' : `key ${shortText(key, 80)}`)]),
  ...Object.entries(parts).map(([name, value]) => row([aside(`  ${name}: ${valueText(value, 80)}`)])),
];

function retryRow({ retry: { attempts, onStatusCodes, source } }: TargetExplanation): Row {
  if (attempts < 1) return row('none', from(source));
  return row(`up to ${attempts} more after ${statusText(onStatusCodes) || 'a failure'}`, from(source));
}

const BY_DEFAULT = Object.entries(FAILURE_KINDS).flatMap(([kind, { fallsThrough }]) => (fallsThrough ? [kind] : []));

function nextRow({ nextAfter: { kinds, statusCodes } }: TargetExplanation, next: TargetExplanation | undefined): Row {
  if (kinds.length + statusCodes.length === 0) return row([aside('its failure is the reply')]);
  const isDefault = kinds.length === BY_DEFAULT.length && BY_DEFAULT.every((kind) => kinds.some((one) => one === kind));
  const statuses = statusCodes.length === 0 ? [] : [`the status ${statusText(statusCodes)}`];
  const after = [...(isDefault ? ['any failure that falls through by default'] : kindTexts(kinds)), ...statuses];
  const whom = next ? `target ${next.number + 1}` : 'the next target, if there were one';
  return row([span(`after ${listed(after, 'or')}: `), span(whom, next ? 'value' : 'aside')]);
}

const TIMEOUTS = Object.keys(FAILURE_KINDS).filter((kind) => kind.startsWith('timeout_'));

function kindTexts(kinds: readonly string[]): readonly string[] {
  if (!TIMEOUTS.every((timeout) => kinds.includes(timeout))) return kinds;
  return [...kinds.filter((kind) => !TIMEOUTS.includes(kind)), 'any timeout'];
}

/** `429, 500–504`: a run of three or more is shown by its ends, all of a hundred as `5xx`. */
function statusText(codes: readonly number[]): string {
  const sorted = [...new Set(codes)].toSorted((a, b) => a - b);
  const runs: number[][] = [];
  for (const code of sorted) {
    const run = runs.at(-1);
    if (run && run.at(-1) === code - 1) run.push(code);
    else runs.push([code]);
  }
  return runs
    .flatMap((run) => {
      const [first, last] = [run[0]!, run.at(-1)!];
      if (run.length === 100 && first % 100 === 0) return [`${first / 100}xx`];
      return run.length > 2 ? [`${first}–${last}`] : run.map(String);
    })
    .join(', ');
}

function metricRows({ metrics }: TargetExplanation): Row[] {
  if (metrics.length === 0) return [];
  const labels = new Set(
    metrics.flatMap(({ labels: one }) =>
      Object.entries(one).flatMap(([name, value]) => (value === '' ? [] : [`${name}=${shortText(value, 60)}`])),
    ),
  );
  return [
    row([...new Set(metrics.map(({ name }) => name))].join(', ')),
    ...(labels.size === 0 ? [] : [row([aside(`with ${[...labels].join(', ')}`)])]),
  ];
}

export const leftOutRows = (leftOut: Explanation['leftOut']): Row[] =>
  leftOut.map(({ target, name, at: place, reason }) =>
    row(
      [span(target), span(name === undefined ? '' : ` ${JSON.stringify(name)}`), aside(`  ${reason}`)],
      place ? at(place) : arrow(),
    ),
  );
