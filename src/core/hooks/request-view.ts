import { isObject } from '../../formats/json/object.ts';
import type { ReadRequestTexts, RequestText, RequestTexts } from '../../formats/texts/request-texts.ts';
import type { RequestTextView, RequestView } from '../../plugin/hooks.ts';
import type { Edit } from '../../plugin/request.ts';
import type { RequestBody } from '../kernel/index.ts';

/** Kinds that a plugin reads only if it asks for them. */
const ON_DEMAND: ReadonlySet<string> = new Set(['thinking', 'file_name', 'definition']);

/** The conversation of a request as its plugin sees it, and the changes that it asks for. */
export class ConversationView implements RequestView {
  readonly #found: RequestTexts;
  readonly #source: string;
  readonly #mayChange: boolean;
  readonly #edits = new Map<RequestText, Edit>();

  constructor(
    body: RequestBody,
    read: ReadRequestTexts,
    plugin: { readonly name: string; readonly mayChange: boolean },
  ) {
    this.#found = read(body.json());
    this.#source = `plugin ${plugin.name}`;
    this.#mayChange = plugin.mayChange;
  }

  texts({ roles, kinds }: NonNullable<Parameters<RequestView['texts']>[0]> = {}): readonly RequestTextView[] {
    const isWanted = ({ role, kind }: RequestText): boolean =>
      (roles?.includes(role) ?? true) && (kinds?.includes(kind) ?? !ON_DEMAND.has(kind));
    return this.#found.texts.filter(isWanted).map((text) => this.#view(text));
  }

  get media(): RequestView['media'] {
    return this.#found.media.map(({ role, type, path }) => ({ role, type, place: path.join('.') }));
  }

  get edits(): readonly Edit[] {
    return [...this.#edits.values()];
  }

  #view(found: RequestText): RequestTextView {
    const { role, kind, path, signed } = found;
    return {
      role,
      kind,
      place: path.join('.'),
      text: found.text,
      signed,
      replace: (text) => {
        if (!this.#mayChange) throw new TypeError('a plugin that reads `observe` cannot change a text');
        if (signed) throw new TypeError('thinking that its provider has signed cannot be changed');
        if (typeof text !== 'string') throw new TypeError('a text is replaced by a string');
        if (text === found.text) this.#edits.delete(found);
        else this.#edits.set(found, { path, value: valueOf(found, text), source: this.#source });
      },
    };
  }
}

function valueOf({ json, written }: RequestText, text: string): unknown {
  if (written) return written(text);
  return json ? objectIn(text) : text;
}

function objectIn(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new TypeError('the arguments of a call are a JSON object');
  return value;
}
