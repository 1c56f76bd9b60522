import type {
  AnswerExplanation,
  CallerExplanation,
  ConfigExplanation,
  Explanation,
  RequestExplanation,
  PluginExplanation,
  PromptExplanation,
  RulesExplanation,
  TestExplanation,
} from '../explanation.ts';
import { row, span, type Row, type Section, type Line, type TextSpan, type Tone } from './layout.ts';
import { arrow, aside, at, count, duration, fieldsText, from, shortText, sourceText, valueText } from './words.ts';

export function headSections(reported: Explanation): Section[] {
  const { request, caller, config, prompt, metadata, labels, deadline } = reported;
  return [
    { label: 'request', rows: requestRows(request) },
    ...(caller ? [{ label: 'caller', rows: callerRows(caller) }] : []),
    ...(config ? [{ label: 'config', rows: configRows(config, reported.settings) }] : []),
    ...(prompt ? [{ label: 'prompt', rows: promptRows(prompt) }] : []),
    ...pairs('metadata', metadata),
    ...pairs('labels', labels),
    ...(config ? [{ label: 'deadline', rows: [row(duration(deadline.ms), from(deadline.source))] }] : []),
  ];
}

function requestRows({
  method,
  path,
  operation,
  bytes,
  model,
  alias,
  stream,
  strict,
  strictParams,
  id,
}: RequestExplanation): Row[] {
  const flags = [
    ...(model === undefined ? [] : [`model ${shortText(model, 80)}`]),
    ...(stream ? ['stream'] : []),
    count(bytes, 'byte'),
    ...(strict === undefined ? [] : [strict ? 'strict replies' : 'replies not limited to OpenAI’s fields']),
    ...(strictParams ? ['strict parameters'] : []),
  ];
  const what = operation === undefined ? span('  no operation at this path', 'bad') : aside(`  ${operation}`);
  return [
    row([span(`${method} ${shortText(path, 200)}`), what]),
    row(flags.join(', ')),
    ...(alias ? [row(`an alias of ${shortText(alias.of, 120)}`, at(alias.at))] : []),
    row([aside(`id ${shortText(id, 120)}`)]),
  ];
}

const callerRows = ({ key, found, at: place, ...may }: CallerExplanation): Row[] => [
  row([span(key), aside(`  ${found}`)], at(place)),
  ...['providers' as const, 'models' as const, 'configs' as const].flatMap((what) =>
    may[what] ? [row(`may use the ${what} ${may[what].join(', ') || 'none'}`)] : [],
  ),
  ...(may.fields ? [row(`may send ${fieldsText(may.fields)}`)] : []),
  ...(may.defaultConfig === undefined ? [] : [row(`default config: ${may.defaultConfig}`)]),
  ...(may.ownUpstreamToken ? [row('sends its own upstream credential in Authorization')] : []),
];

const FOUND = {
  header: 'named by',
  inline: 'came with the request',
  key: 'the default of the key',
  server: 'the default of the server',
  none: 'none: the request itself names its target',
  alias: 'by an alias',
} as const satisfies Record<ConfigExplanation['found'], string>;

function configRows({ id, hash, name, found, source }: ConfigExplanation, settings: Explanation['settings']): Row[] {
  const named = found === 'header' && source.kind === 'header' ? ` ${source.name}` : '';
  const title = name === undefined ? [] : [aside(`  ${JSON.stringify(name)}`)];
  const head =
    found === 'none' ? [span(FOUND.none)] : [span(id, 'value'), ...title, aside(`  ${FOUND[found]}${named}`)];
  const source_ = found === 'none' || source.kind === 'header' ? [] : arrow(sourceText(source));
  return [row(head, source_), row([aside(`hash ${hash}, of all settings ${settings.hash} (${settings.folder})`)])];
}

function promptRows({ id, version, digest, at: place, asked, pinned, messages }: PromptExplanation): Row[] {
  const state = digest === undefined ? 'draft' : `released as ${digest.slice(0, 'sha256:'.length + 8)}…`;
  return [
    row([span(`${id}@${version}`, 'value'), aside(`  ${state}; the request names ${shortText(asked, 80)}`)], at(place)),
    ...(pinned ? [row('pinned by the config', from(pinned))] : []),
    ...messages.map(({ role, content, at: line }) =>
      row([aside(`${role}: `), span(valueText(content, 160))], at(line)),
    ),
  ];
}

const pairs = (label: string, values: Readonly<Record<string, string>>): Section[] => {
  const text = Object.entries(values).map(([name, value]) => `${name}=${shortText(value, 60)}`);
  return text.length === 0 ? [] : [{ label, rows: [row(text.join(', '))] }];
};

/** `400 invalid_request: …` */
export const answerRows = ({ status, code, message, param }: AnswerExplanation): Row[] => [
  row([
    span(`${status}${code === undefined ? '' : ` ${code}`}`, status < 400 ? 'good' : 'bad'),
    span(message === undefined ? '' : `: ${shortText(message, 400)}`),
    aside(param === null ? '' : `  (${param})`),
  ]),
];

/** One line per plugin. The source of a plugin is shown only if the settings list it. */
export function pluginRows(plugins: readonly PluginExplanation[]): Row[] {
  const longest = Math.max(0, ...plugins.map(({ name }) => name.length));
  return plugins.flatMap((plugin) => [
    row([span(plugin.name.padEnd(longest), toneOf(plugin)), ...doing(plugin)], whyOn(plugin)),
    ...(plugin.keptIn ? [inset(row([aside('always: true; not in the list')], from(plugin.keptIn)))] : []),
    ...(plugin.optionsFrom ? [inset(row([aside('options changed')], from(plugin.optionsFrom)))] : []),
    ...(plugin.refused ? answerRows(plugin.refused).map((answer) => inset(answer)) : []),
  ]);
}

/** A plugin that did nothing is dimmed; it is listed to show the order. */
function toneOf({ refused, state, does }: PluginExplanation): Tone | undefined {
  if (refused) return 'bad';
  return state === 'run' && does !== undefined ? undefined : 'aside';
}

function doing({ state, does }: PluginExplanation): Line {
  if (state === 'not reached' || state === 'left out') return [aside(`  ${state}`)];
  const words = does === undefined ? '' : shortText(does, 240);
  if (state === 'not run') return [span(`  not run: it is not declared pure${words && `; ${words}`}`, 'warn')];
  return words === '' ? [] : [span(`  ${words}`)];
}

const whyOn = ({ on }: PluginExplanation) => (on.kind === 'gateway' ? [] : from(on));

/** The plugins of the entry and request chains, one section per chain. */
export const chainSections = (plugins: readonly PluginExplanation[]): Section[] =>
  (['entry', 'request'] as const).flatMap((chain) => {
    const rows = pluginRows(plugins.filter((plugin) => plugin.chain === chain));
    return rows.length === 0 ? [] : [{ label: chain, rows }];
  });

/** Every evaluated condition, with the compared values; the later ones are only counted. */
export function rulesRows({ conditional, conditions, to, otherwise }: RulesExplanation): Row[] {
  const tried = conditions.filter(({ holds }) => holds !== undefined);
  const left = conditions.length - tried.length;
  return [
    row([span(conditional), aside('  leads to '), span(to, 'value'), aside(otherwise ? '  (default)' : '')]),
    ...tried.flatMap(({ index, holds, then, tests, at: place }) => [
      row([mark(holds === true), span(` conditions[${index}]`), aside(` then ${then}`)], at(place)),
      ...tests.flatMap((test) => testRows(test, 1)),
    ]),
    ...(left > 0 ? [row([aside(`  ${left} more not evaluated`)])] : []),
  ];
}

function mark(holds: boolean | undefined): TextSpan {
  if (holds === undefined) return span('?', 'warn');
  return holds ? span('✓', 'good') : span('✗', 'bad');
}

function testRows(
  { field, operator, wanted, holds, at: place, inner, ...rest }: TestExplanation,
  depth: number,
): Row[] {
  const indent = span('  '.repeat(depth));
  if (inner) {
    return [
      row([indent, mark(holds), span(` ${field}`)], at(place)),
      ...inner.flatMap((test) => testRows(test, depth + 1)),
    ];
  }
  const foundText = 'found' in rest ? `  is ${valueText(rest.found)}` : '  is absent';
  const found = holds === undefined ? `${foundText}, too long for a pattern` : foundText;
  const compared = ` ${field}${operator === undefined ? '' : ` ${operator}`} ${valueText(wanted)}`;
  return [row([indent, mark(holds), span(compared), aside(found)], at(place))];
}

const inset = ({ left, ...rest }: Row): Row => ({ left: [span('  '), ...left], ...rest });
