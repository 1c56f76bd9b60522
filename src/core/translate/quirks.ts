import type { Format, ModelFeatures } from '../../formats/format.ts';
import { LossReport, joinLosses } from '../../formats/losses/losses.ts';
import { MAX_EVENT_BYTES } from '../../formats/sse/held-bytes.ts';
import { addPiece } from '../../formats/json/piece-list.ts';
import { UpstreamError } from '../../plugin/index.ts';
import type { Outbound, Prepared, ReplyReaderLike } from '../kernel/index.ts';
import type { BodyLimit, BodyEnvelope, Quirks } from '../providers/provider.ts';
import { viewOf } from './translation-job.ts';
import { lostFeature, namesIn } from './outbound-headers.ts';

/** Adapts the request that a format has written to the quirks of the target's host. */
export function applyQuirks(
  prepared: Prepared,
  quirks: Quirks | undefined,
  { client, upstream }: { readonly client: Format; readonly upstream: Format },
): Prepared {
  if (!quirks) return prepared;
  const { takesFeature, featureNames, envelope, bodyLimit, explain } = quirks;
  const features = upstream.requestHeaders?.features;
  let { outbound, losses } = prepared;
  if (takesFeature && features) {
    const refused = new Set<string>();
    const split = (names: readonly string[]) => [
      ...new Set(
        names.flatMap((name) => {
          if (takesFeature(name)) return name;
          const own = featureNames?.get(name);
          if (own !== undefined && takesFeature(own)) return own;
          refused.add(name);
          return [];
        }),
      ),
    ];
    const filter = { features, split };
    outbound = {
      ...outbound,
      headers: filterHeader(outbound.headers, filter),
      body: filterField(outbound.body, filter),
    };
    losses = joinLosses(losses, lostFeatures(features, refused));
  }
  if (envelope) {
    const { body, losses: lost } = envelope.wrap(toBuffer(outbound.body), outbound.stream);
    outbound = { ...outbound, ...readThrough(envelope, outbound, client), body };
    losses = joinLosses(losses, lost);
  }
  if (bodyLimit) refuseLarger(bodyLimit, outbound);
  if (explain) {
    const { decodeError } = outbound;
    outbound = { ...outbound, decodeError: (status, text) => explain(decodeError(status, text)) };
  }
  return { ...prepared, outbound, losses };
}

function lostFeatures(features: ModelFeatures, refused: ReadonlySet<string>): Prepared['losses'] {
  const losses = new LossReport();
  for (const name of refused) losses.add(lostFeature(features, name, 'This target does not take it'));
  return losses.list();
}

/** Reported like a refusal by the upstream, so that a config with its status falls through to another target. */
function refuseLarger({ bytes, words }: BodyLimit, { body }: Outbound): void {
  const size = Buffer.byteLength(body);
  if (size <= bytes) return;
  const message = `The request has ${size} bytes after encoding, and ${words} accepts at most ${bytes}.`;
  throw new UpstreamError('request_too_large', message);
}

interface Filter {
  readonly features: ModelFeatures;
  readonly split: (names: readonly string[]) => readonly string[];
}

function filterHeader(headers: Outbound['headers'], { features, split }: Filter): Outbound['headers'] {
  const { [features.header]: list, ...others } = headers;
  if (list === undefined) return headers;
  const kept = split(namesIn([list]));
  return kept.length === 0 ? others : { ...others, [features.header]: kept.join(',') };
}

/** A host that reads the field gets the same list as in the header (docs/protocols/vertex-ai.md#claude-betas). */
function filterField(body: Outbound['body'], { features: { field }, split }: Filter): Outbound['body'] {
  if (!body.includes(`"${field}"`)) return body;
  const view = viewOf(body);
  const given = view.has(field) ? view.value(field) : undefined;
  if (typeof given !== 'string' && !Array.isArray(given)) return body;
  const names = [given].flat().flatMap((entry: unknown) => (typeof entry === 'string' ? namesIn([entry]) : []));
  const kept = split(names);
  if (kept.length === names.length && kept.every((name, at) => name === names[at])) return body;
  const value = kept.length === 0 ? undefined : kept;
  return view.edit([{ path: [field], value, source: 'gateway' }]).encode();
}

const toBuffer = (body: Outbound['body']): Buffer => (typeof body === 'string' ? Buffer.from(body) : body);

function readThrough(
  envelope: BodyEnvelope,
  { openReader, stream }: Outbound,
  { contentType }: Format,
): Pick<Outbound, 'openReader' | 'contentType'> {
  // For a plain reply the upstream module limits the held bytes; stream readers have their own limit.
  const limit = stream ? MAX_EVENT_BYTES : Number.POSITIVE_INFINITY;
  return {
    openReader: (reply) => new EnvelopeReader(envelope, openReader(reply), limit),
    // The upstream replied with JSON, whatever type the client gets.
    contentType: stream ? contentType.stream : contentType.body,
  };
}

/** A reply that can be read only once it is complete. */
class EnvelopeReader implements ReplyReaderLike {
  readonly signals: ReplyReaderLike['signals'];
  readonly #envelope: BodyEnvelope;
  readonly #inner: ReplyReaderLike;
  readonly #limit: number;
  #pieces: Buffer[] = [];
  #held = 0;

  constructor(envelope: BodyEnvelope, inner: ReplyReaderLike, limit: number) {
    this.signals = inner.signals;
    this.#envelope = envelope;
    this.#inner = inner;
    this.#limit = limit;
  }

  push(bytes: Buffer): undefined {
    addPiece(this.#pieces, bytes);
    this.#held += bytes.length;
    if (this.#held <= this.#limit) return;
    this.#pieces = [];
    const message = `the reply exceeds ${this.#limit} bytes, the limit for a reply that is served as a stream`;
    this.signals.failure = { status: 502, kind: 'reply_too_large', message };
  }

  end(): Buffer | undefined {
    const whole = this.#envelope.unwrap(Buffer.concat(this.#pieces));
    const pieces = [this.#inner.push(whole), this.#inner.end()].filter((piece) => piece !== undefined);
    return pieces.length === 0 ? undefined : Buffer.concat(pieces);
  }
}
