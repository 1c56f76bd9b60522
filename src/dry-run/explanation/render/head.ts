import type {
  AnswerExplanation,
  CallerExplanation,
  ConfigExplanation,
  Explanation,
  RequestExplanation,
} from '../explanation.ts';
import { row, span, type Row, type Section } from './layout.ts';
import { arrow, aside, at, count, duration, fieldsText, from, shortText, sourceText } from './words.ts';

/** The sections about the request, its caller and its config. */
export function headSections(reported: Explanation): Section[] {
  const { request, caller, config, metadata, labels, deadline } = reported;
  return [
    { label: 'request', rows: requestRows(request) },
    ...(caller ? [{ label: 'caller', rows: callerRows(caller) }] : []),
    ...(config ? [{ label: 'config', rows: configRows(config, reported.settings) }] : []),
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
    row([aside(`id ${shortText(id, 120)}`)]),
  ];
}

function callerRows({ key, found, at: place, ...may }: CallerExplanation): Row[] {
  return [
    row([span(key), aside(`  ${found}`)], at(place)),
    ...['providers' as const, 'models' as const, 'configs' as const].flatMap((what) =>
      may[what] ? [row(`may use the ${what} ${may[what].join(', ') || 'none'}`)] : [],
    ),
    ...(may.fields ? [row(`may send ${fieldsText(may.fields)}`)] : []),
    ...(may.defaultConfig === undefined ? [] : [row(`default config: ${may.defaultConfig}`)]),
    ...(may.ownUpstreamToken ? [row('sends its own upstream credential in Authorization')] : []),
  ];
}

const FOUND = {
  header: 'named by',
  inline: 'came with the request',
  key: 'the default of the key',
  server: 'the default of the server',
  none: 'none: the request itself names its target',
} as const satisfies Record<ConfigExplanation['found'], string>;

function configRows({ id, hash, name, found, source }: ConfigExplanation, settings: Explanation['settings']): Row[] {
  const named = found === 'header' && source.kind === 'header' ? ` ${source.name}` : '';
  const title = name === undefined ? [] : [aside(`  ${JSON.stringify(name)}`)];
  const head =
    found === 'none' ? [span(FOUND.none)] : [span(id, 'value'), ...title, aside(`  ${FOUND[found]}${named}`)];
  const source_ = found === 'none' || source.kind === 'header' ? [] : arrow(sourceText(source));
  return [row(head, source_), row([aside(`hash ${hash}, of all settings ${settings.hash} (${settings.folder})`)])];
}

const pairs = (label: string, values: Readonly<Record<string, string>>): Section[] => {
  const text = Object.entries(values).map(([name, value]) => `${name}=${shortText(value, 60)}`);
  return text.length === 0 ? [] : [{ label, rows: [row(text.join(', '))] }];
};

/** `400 invalid_request: …` */
export function answerRows({ status, code, message, param }: AnswerExplanation): Row[] {
  return [
    row([
      span(`${status}${code === undefined ? '' : ` ${code}`}`, status < 400 ? 'good' : 'bad'),
      span(message === undefined ? '' : `: ${shortText(message, 400)}`),
      aside(param === null ? '' : `  (${param})`),
    ]),
  ];
}
