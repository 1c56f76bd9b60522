import type { Logger } from 'pino';
import type { Format } from '../../formats/format.ts';
import { formats } from '../../formats/index.ts';
import type { FetchedMedia, MediaByUrl, RemoteMedia } from '../../formats/media/remote-media.ts';
import { Cancellation, GatewayError, type Clock } from '../../plugin/index.ts';
import {
  toGatewayError,
  type Attempt,
  type Exchange,
  type MediaInliner,
  type RequestBody,
  type ResolvedTarget,
} from '../kernel/index.ts';
import { ByteBudget } from '../upstream/bounded-body.ts';
import { inParallel } from '../upstream/parallel.ts';
import type { Upstream } from '../upstream/types.ts';
import { readMedia, fetchMedia, MediaRefused, type FetchContext } from './media-fetch.ts';
import { AllowedHosts } from '../catalog/custom-host.ts';
import { withMedia } from './media-edits.ts';

/** Parallel downloads of one request. More were no faster, and one request must not crowd out others. */
const PARALLEL = 4;

interface InlinerSetup {
  /** Puts stored files into the body of an attempt. Undefined: the gateway stores none. */
  readonly placeFiles?: MediaInliner['inline'] | undefined;
  readonly download: Upstream['download'];
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Downloads remote media for targets that fetch none, under the rules of the target's config. The cache runs before it
 * and keys such a request by its addresses, whose content may change, as for a target that fetches them itself.
 */
export const createMediaInliner = (setup: InlinerSetup): MediaInliner => ({
  inline(exchange, attempt, resolved) {
    const placed = setup.placeFiles?.(exchange, attempt, resolved);
    if (!placed) return inlineRemote(exchange, attempt, { resolved, body: attempt.body, setup });
    return placed.then((body) => inlineRemote(exchange, attempt, { resolved, body, setup }) ?? body);
  },
});

interface RemoteSetup {
  readonly resolved: ResolvedTarget;
  /** The attempt's body, with stored files in place. */
  readonly body: RequestBody;
  readonly setup: InlinerSetup;
}

function inlineRemote(
  { id, operation }: Exchange,
  attempt: Attempt,
  { resolved, body, setup }: RemoteSetup,
): Promise<RequestBody> | undefined {
  const mediaByUrl = formats[resolved.format].media?.byUrl;
  if (!mediaByUrl || !operation) return undefined;
  const missing = missingMedia(operation.format, mediaByUrl, { body, target: attempt.target }, resolved);
  const [first] = missing;
  if (!first) return undefined;
  const job: InlineJob = { setup, id, attempt, body, mediaByUrl, native: operation.format.name === resolved.format };
  checkAllowed(missing, first, job);
  return inline(missing, job);
}

interface InlineJob {
  readonly setup: InlinerSetup;
  readonly id: string;
  readonly attempt: Attempt;
  readonly body: RequestBody;
  readonly mediaByUrl: MediaByUrl;
  /** Client and target have the same format, so the caller's bytes are sent. */
  readonly native: boolean;
}

/** A JSON text without either of these has no key `url`. */
const URL_KEY = Buffer.from('"url"');
const ESCAPE = Buffer.from(String.raw`\u`);

const mayHoldUrls = ({ original, edits }: RequestBody): boolean =>
  edits.length > 0 || original.includes(URL_KEY) || original.includes(ESCAPE);

function missingMedia(
  client: Format,
  mediaByUrl: MediaByUrl,
  { body, target }: Pick<Attempt, 'body' | 'target'>,
  { format, host, extensions }: ResolvedTarget,
): RemoteMedia[] {
  const pass = target.remoteMedia?.pass ?? false;
  const native = client.name === format;
  // Nothing else parses such a body whole, and most contain megabytes of base64.
  if (native && (mediaByUrl.ownUrlsPass || !mayHoldUrls(body))) return [];
  const found = client.media?.remote(body.json()) ?? [];
  // No such target reads audio or video: its format reports that.
  const place = { host, native, pass, extensions };
  return found.filter((one) => (one.media === 'image' || one.media === 'document') && !mediaByUrl.fetches(one, place));
}

function checkAllowed(missing: readonly RemoteMedia[], first: RemoteMedia, { attempt, native }: InlineJob): void {
  const settings = attempt.target.remoteMedia;
  const form = native ? 'in base64' : 'as a data URI (`data:<type>;base64,…`)';
  if (!settings || settings.hosts.length === 0) {
    const key = /^https?:/i.test(first.url) ? ', or allow its host in `remote_media` of the gateway config' : '';
    throw refused(first, `is a URL, and this target accepts media only as data. Send it ${form}${key}`);
  }
  const extra = missing[settings.maxItems];
  if (extra) throw refused(extra, `exceeds the limit of ${settings.maxItems} URLs to fetch (remote_media.max_items)`);
}

async function inline(missing: readonly RemoteMedia[], job: InlineJob): Promise<RequestBody> {
  const contents = await fetchAll(missing, job);
  const values = missing.map((one) => {
    const content = contents.get(one.url)!;
    const value = one.embed(content);
    if (value === undefined) throw refused(one, `is ${content.mime}, which this part cannot hold`);
    return [one.path, value] as const;
  });
  return withMedia(job.body, values, { native: job.native, source: 'remote_media' });
}

/** Fetches each address once, `PARALLEL` at a time. The first failure cancels the others. */
async function fetchAll(missing: readonly RemoteMedia[], job: InlineJob): Promise<ReadonlyMap<string, FetchedMedia>> {
  const { attempt, mediaByUrl } = job;
  const group = new Cancellation();
  const context = contextOf(job, group);
  const addresses = Map.groupBy(missing, ({ url }) => url);
  const contents = new Map<string, FetchedMedia>();
  const workers = Math.min(PARALLEL, addresses.size);
  const team = { workers, group, within: attempt.cancellation, giveUp: toGatewayError };
  try {
    await inParallel(addresses.entries(), team, async ([url, parts]) => {
      contents.set(url, await fetchOne(parts, context, mediaByUrl));
    });
    return contents;
  } catch (error) {
    const failure = toGatewayError(error);
    warnOperator(failure, job);
    throw failure;
  }
}

/** Logs the cause, which the caller does not get. The address is omitted, because it may be signed. */
function warnOperator({ cause, param }: GatewayError, { setup, id }: InlineJob): void {
  if (cause !== undefined)
    setup.log.warn({ err: cause, request_id: id, param }, 'media of a request cannot be fetched');
}

function contextOf({ setup, attempt, mediaByUrl }: InlineJob, cancellation: Cancellation): FetchContext {
  const { download, clock } = setup;
  const settings = attempt.target.remoteMedia!;
  return {
    download,
    clock,
    settings,
    hosts: new AllowedHosts(settings),
    budget: new ByteBudget(settings.maxBytes),
    until: clock.now() + settings.timeoutMs,
    deadline: attempt.deadline,
    deadlineOf: attempt.deadline < attempt.startedAt + attempt.timeouts.total ? 'request' : 'total',
    cancellation,
    accept: [...mediaByUrl.types].join(', '),
  };
}

async function fetchOne(
  parts: readonly RemoteMedia[],
  context: FetchContext,
  { types }: MediaByUrl,
): Promise<FetchedMedia> {
  const [first] = parts;
  try {
    const content = readMedia(await fetchMedia(first!.url, parts.length, context), types);
    if (typeof content === 'string') throw new MediaRefused(`cannot be used: it ${content}`);
    return content;
  } catch (error) {
    throw error instanceof MediaRefused ? refused(first!, error.message, error.cause) : error;
  }
}

const refused = ({ param }: RemoteMedia, why: string, cause?: unknown): GatewayError =>
  new GatewayError('invalid_value', `\`${param}\` ${why}.`, { param, cause });
