import type { ApiSchemas, ShownExplanation } from '../../api/shapes.ts';
import type { WhyData } from './load.ts';

export type WhatIfQuestion = ApiSchemas['explain'];

/** The changes of a request that a person may try, as the fields are typed. */
export interface WhatIfChanges {
  readonly key: string;
  readonly model: string;
  /** `name: value`, a line each. */
  readonly headers: string;
  readonly at: string;
  readonly draw: string;
  /** Places of targets that are taken for down. */
  readonly down: readonly string[];
  readonly file?: { readonly path: string; readonly text: string };
}

export const NO_CHANGES: WhatIfChanges = { key: '', model: '', headers: '', at: '', draw: '', down: [] };

/** The request as it was. Its texts are not needed: they decide nothing but their length. */
export function questionOf({ request, explanation }: Pick<WhyData, 'request' | 'explanation'>): WhatIfQuestion {
  const metadata =
    request.metadata && Object.keys(request.metadata).length > 0
      ? { 'x-gateway-metadata': JSON.stringify(request.metadata) }
      : {};
  const config =
    request.config && explanation?.config?.found !== 'key' && explanation?.config?.found !== 'server'
      ? { 'x-gateway-config': request.config.id }
      : {};
  return {
    method: request.method ?? 'POST',
    path: request.path ?? '/v1/chat/completions',
    ...(request.key_id !== undefined && { key: request.key_id }),
    headers: { ...metadata, ...config },
    body: bodyOf(explanation, request.alias ?? modelOf(request.attempts[0])),
  };
}

const modelOf = (attempt: { readonly provider?: string; readonly request_model?: string } | undefined): string =>
  attempt?.request_model === undefined ? 'model' : `@${attempt.provider}/${attempt.request_model}`;

function bodyOf(explanation: ShownExplanation | undefined, model: string): object {
  const kept = explanation?.targets[0]?.body;
  const own = explanation?.request.model ?? model;
  return typeof kept === 'object' && kept !== null
    ? { ...kept, model: own }
    : { model: own, messages: [{ role: 'user', content: 'text' }] };
}

export function parseHeaders(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^\s*([\w-]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
      return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value]];
    }),
  );
}

export function changed(question: WhatIfQuestion, changes: WhatIfChanges): WhatIfQuestion {
  const { key, model, headers, at, draw, down, file } = changes;
  const draws = draw.split(/[\s,]+/).flatMap((one) => (one === '' || Number.isNaN(Number(one)) ? [] : [Number(one)]));
  return {
    ...question,
    ...(key !== '' && { key }),
    headers: { ...question.headers, ...parseHeaders(headers) },
    ...(model !== '' && { body: { ...Object(question.body), model } }),
    ...(at !== '' && { at: new Date(at).toISOString() }),
    ...(draws.length > 0 && { draws }),
    ...(down.length > 0 && { health: Object.fromEntries(down.map((target) => [target, 'open' as const])) }),
    ...(file && { settings: { [file.path]: file.text } }),
  };
}

export interface WayLine {
  readonly text: string;
  readonly place: string;
}

/** An explanation as lines, for two beside each other. */
export function wayOf({
  settings,
  config,
  rules = [],
  targets,
  leftOut = [],
  answer,
}: ShownExplanation): readonly WayLine[] {
  const placeText = (at: { readonly file: string; readonly line: number } | undefined): string =>
    at ? `${at.file.replace(`${settings.folder ?? ''}/`, '')}:${at.line}` : '';
  return [
    { text: config ? `config ${config.id}` : 'no config', place: placeText(config?.source.at) },
    ...rules.map(({ conditions, otherwise, to }) => {
      const holds = conditions.find((one) => one.holds === true);
      return {
        text: otherwise ? `no condition holds: ${to}` : `condition ${holds?.index ?? ''} holds`,
        place: placeText(holds?.at),
      };
    }),
    ...targets.map(({ name, target, provider, at, health }) => ({
      text: `${name ?? target}${provider ? ` → @${provider.slug}/${provider.model}` : ''}${health && health.state !== 'closed' ? ` (health ${health.state})` : ''}`,
      place: placeText(at),
    })),
    ...leftOut.map(({ name, target, reason, at }) => ({
      text: `not ${name ?? target}: ${reason ?? ''}`,
      place: placeText(at),
    })),
    ...(answer ? [{ text: `the gateway answers ${answer.status ?? ''} ${answer.code ?? ''}`, place: '' }] : []),
  ];
}
