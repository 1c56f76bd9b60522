import { TARGET_FIELDS, type TargetField } from '../../formats/anthropic-messages/target-fields.ts';
import { LossReport, joinLosses } from '../../formats/losses/losses.ts';
import type { BodyEdit } from '../../formats/body-view.ts';
import { isObject } from '../../formats/json/object.ts';
import { GatewayError } from '../../plugin/index.ts';
import type { Operation, Prepared, RequestBody, ResolvedTarget } from '../kernel/index.ts';
import { viewOf } from './translation-job.ts';
import { namesIn } from './outbound-headers.ts';

const ITEMS = '[]';

/** `tools[].strict` as keys and `[]`. */
export const stepsOf = (path: string): readonly string[] =>
  path.split('.').flatMap((part) => (part.endsWith(ITEMS) ? [part.slice(0, -ITEMS.length), ITEMS] : [part]));

/**
 * A copy without the field at the end of the steps, wherever they lead to one; the value itself if nothing is removed.
 * @param removes called for each such field with its value and its place
 */
export function removeFields(
  value: unknown,
  steps: readonly string[],
  removes: (field: unknown, place: string) => boolean,
): unknown {
  const walk = (from: unknown, at: number, place: string): unknown => {
    const step = steps[at];
    if (step === undefined) return removes(from, place) ? undefined : from;
    if (step === ITEMS) {
      if (!Array.isArray(from)) return from;
      const items = from.map((item: unknown, index) => walk(item, at + 1, `${place}[${index}]`));
      return items.some((item, index) => item !== from[index]) ? items : from;
    }
    if (!isObject(from) || !Object.hasOwn(from, step)) return from;
    const field = walk(from[step], at + 1, place === '' ? step : `${place}.${step}`);
    if (field === from[step]) return from;
    if (field !== undefined) return { ...from, [step]: field };
    const { [step]: _, ...others } = from;
    return others;
  };
  return walk(value, 0, '');
}

type FieldsTarget = Pick<ResolvedTarget, 'format' | 'host' | 'structuredOutputs'>;

/** Refuses fields without which the request would mean something else at this target. Throws GatewayError. */
export function refuseFields({ format }: Operation, body: RequestBody, target: FieldsTarget): void {
  if (format.name !== 'anthropic-messages') return;
  const at = targetOf(target);
  if (at === 'claude') return;
  for (const rule of TARGET_FIELDS) {
    const { field, refuses, isDefault } = rule;
    const action = rule.at[at];
    if (action !== 'refuse' && (action !== 'drop' || !refuses)) continue;
    if (!isPresent(body, field) || (action === 'refuse' && isDefault?.(body.value(field)))) continue;
    if (action === 'refuse' || refuses?.(body.value(field))) throw refusal(rule);
  }
}

/** A row of the table for Vertex AI, and where its field may stand. */
interface VertexRule {
  readonly row: TargetField;
  readonly places: readonly FieldPlace[];
}

interface FieldPlace {
  readonly steps: readonly string[];
  /** The key of the body that the field is in. */
  readonly top: string;
  /** The field's own key as JSON, for a field that is not at the top. */
  readonly key: string | undefined;
}

function placeOf(path: string): FieldPlace {
  const steps = stepsOf(path);
  return { steps, top: steps[0]!, key: steps.length > 1 ? `"${steps.at(-1)}"` : undefined };
}

const VERTEX_RULES: readonly VertexRule[] = TARGET_FIELDS.filter(({ at }) => at.vertex !== 'send').map((row) => ({
  row,
  places: (row.places ?? [row.field]).map(placeOf),
}));

/**
 * Leaves out the fields for Claude that this host does not have, or only with a beta that is not sent. The search of
 * the bytes finds every field: only needless escapes hide a key. @param written with the headers that are sent
 */
export function withoutForeignFields(
  { format }: Operation,
  caller: RequestBody,
  { target, written }: { readonly target: FieldsTarget; readonly written: Prepared },
): Prepared {
  if (format.name !== 'anthropic-messages' || targetOf(target) !== 'vertex') return written;
  let removal: Removal | undefined;
  for (const { row, places } of VERTEX_RULES) {
    if (row.structuredOutputs && target.structuredOutputs) continue;
    let before: FieldPlace | undefined;
    let found = false;
    for (const place of places) {
      // Places in one value have one search.
      if (place.top !== before?.top) found = mayHave(caller, place);
      before = place;
      if (found) (removal ??= new Removal(caller, written)).remove(row, place);
    }
  }
  return removal?.result() ?? written;
}

const mayHave = (body: RequestBody, { top, key }: FieldPlace): boolean =>
  body.has(top) && (key === undefined || body.bytesOf(top).includes(key));

class Removal {
  readonly #caller: RequestBody;
  readonly #written: Prepared;
  readonly #body: RequestBody;
  readonly #changed = new Map<string, unknown>();
  readonly #losses = new LossReport();
  /** Removed rows whose tools go with them. */
  readonly #without: TargetField[] = [];

  constructor(caller: RequestBody, written: Prepared) {
    this.#caller = caller;
    this.#written = written;
    this.#body = viewOf(written.outbound.body);
  }

  remove(row: TargetField, { top, steps }: FieldPlace): void {
    if (!this.#body.has(top)) return;
    const before = this.#changed.has(top) ? this.#changed.get(top) : this.#body.value(top);
    const removed = removeFields({ [top]: before }, steps, (field, place) => {
      // A null asks for nothing, and the host refuses the field with any value.
      if (field === null) return true;
      if (row.at.vertex === 'beta' && sends(betasFor(row, field), this.#caller, this.#written)) return false;
      if (row.refuses?.(field)) throw refusal(row);
      if (!row.isDefault?.(field)) this.#losses.dropped(place, reasonOf(row));
      return true;
    });
    const after = (removed as Readonly<Record<string, unknown>>)[top];
    if (after === before) return;
    this.#changed.set(top, after);
    if (row.tools !== undefined) this.#without.push(row);
  }

  #removeTools({ tools: type, ...row }: TargetField): void {
    const tools = this.#body.has('tools') ? (this.#changed.get('tools') ?? this.#body.value('tools')) : undefined;
    if (!Array.isArray(tools)) return;
    const left = tools.filter((tool: unknown, at) => {
      const isOne = isObject(tool) && tool.type === type;
      if (isOne) this.#losses.dropped(`tools[${at}]`, reasonOf(row));
      return !isOne;
    });
    if (left.length === tools.length) return;
    this.#changed.set('tools', left.length > 0 ? left : undefined);
    // The API refuses a choice without tools.
    if (left.length > 0 || !isPresent(this.#body, 'tool_choice')) return;
    this.#changed.set('tool_choice', undefined);
    this.#losses.dropped('tool_choice', 'there is no tool to choose');
  }

  result(): Prepared {
    // Last, so that the places of losses count all tools.
    for (const row of this.#without) this.#removeTools(row);
    if (this.#changed.size === 0) return this.#written;
    const { outbound, losses } = this.#written;
    const edits = [...this.#changed].map(([top, value]): BodyEdit => ({ path: [top], value, source: 'gateway' }));
    const body = this.#body.edit(edits).encode();
    return { ...this.#written, outbound: { ...outbound, body }, losses: joinLosses(losses, this.#losses.list()) };
  }
}

const targetOf = ({ format, host }: FieldsTarget): 'claude' | 'vertex' | 'other' => {
  if (format !== 'anthropic-messages') return 'other';
  return host === 'vertex' ? 'vertex' : 'claude';
};

/** A null counts as absent. */
const isPresent = (body: RequestBody, field: string): boolean =>
  body.has(field) && (body.value(field) ?? null) !== null;

function refusal(row: TargetField): GatewayError {
  const { field, code } = row;
  const message =
    row.at.vertex === 'beta'
      ? `\`${field}\` with this value needs a beta that is not sent to this target, and the request would mean something else without it.`
      : `Only Anthropic's own API has \`${field}\`, and the request would mean something else without it.`;
  return new GatewayError('unsupported_parameter', message, {
    param: field,
    ...(code !== undefined && { upstreamCode: code }),
  });
}

const reasonOf = ({ at }: TargetField): string =>
  at.vertex === 'beta' ? 'Vertex AI takes it only with a beta that is not sent' : 'Vertex AI has no such field';

interface NeededBetas {
  readonly names: readonly string[];
  readonly all: boolean;
}

const betasFor = ({ betas = [], betasOf }: TargetField, value: unknown): NeededBetas =>
  betasOf ? { names: betasOf(value), all: true } : { names: betas, all: false };

function sends({ names, all }: NeededBetas, caller: RequestBody, { outbound }: Prepared): boolean {
  const sent = namesIn([outbound.headers['anthropic-beta'] ?? '']);
  const inBody = caller.has('anthropic_beta');
  const isSent = (beta: string) => sent.includes(beta) || (inBody && outbound.body.includes(`"${beta}"`));
  return all ? names.every(isSent) : names.some(isSent);
}
