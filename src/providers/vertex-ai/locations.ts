import type { Base } from '../base-url.ts';
import { checkModelName, modelSegment, unusable } from '../model-name.ts';
import type { Location } from '../provider.ts';

interface Publisher {
  readonly id: string;
  readonly format: Location['format'];
  readonly plain: string;
  readonly stream: string;
}

const GOOGLE: Publisher = {
  id: 'google',
  format: 'gemini',
  plain: ':generateContent',
  stream: ':streamGenerateContent?alt=sse',
};
const ANTHROPIC: Publisher = {
  id: 'anthropic',
  format: 'anthropic-messages',
  plain: ':rawPredict',
  stream: ':streamRawPredict',
};

/** The prefixes of a model name that pick a publisher (wire.md C2); undefined ones are known and not served yet. */
const PREFIXES: ReadonlyMap<string, Publisher | undefined> = new Map([
  ['google', GOOGLE],
  ['anthropic', ANTHROPIC],
  ['familya', ANTHROPIC],
  ['meta', undefined],
  ['familyb', undefined],
  ['mistralai', undefined],
  ['endpoints', undefined],
]);

const NO_HEADERS = Object.freeze({});

/** Where the models of one project and region live. */
export class VertexLocations {
  readonly #origin: string;
  /** Path before `{publisher}/models/{model}`. */
  readonly #publishers: string;

  constructor(base: Base, projectId: string, region: string) {
    this.#origin = base.origin;
    this.#publishers = `${base.prefix}/v1/projects/${projectId}/locations/${region}/publishers/`;
  }

  locate(name: string, stream: boolean, headers: Location['headers'] = NO_HEADERS): Location {
    checkModelName(name);
    const { publisher, model } = readPublisher(name);
    const method = stream ? publisher.stream : publisher.plain;
    return {
      origin: this.#origin,
      path: `${this.#publishers}${publisher.id}/models/${modelSegment(model)}${method}`,
      format: publisher.format,
      model,
      host: 'vertex',
      headers,
    };
  }
}

/** The first dot-segment when it is a known prefix; otherwise Google and the whole name, so `gemini-2.5-pro` keeps its dot. */
function readPublisher(name: string): { publisher: Publisher; model: string } {
  const dot = name.indexOf('.');
  const prefix = dot < 0 ? '' : name.slice(0, dot);
  if (!PREFIXES.has(prefix)) return { publisher: GOOGLE, model: name };
  const publisher = PREFIXES.get(prefix);
  if (!publisher) throw unusable(name, `begins with \`${prefix}.\`, which this gateway does not serve yet`);
  const model = name.slice(dot + 1);
  if (model === '') throw unusable(name, `has nothing after \`${prefix}.\``);
  return { publisher, model };
}
