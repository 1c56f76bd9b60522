import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import { systemClock } from '../../src/core/kernel/system-clock.ts';
import { toMiddleware } from '../../src/core/kernel/define.ts';
import type {
  Attempt,
  Exchange,
  KeptResponse,
  ResponseService,
  GatewayContext,
  HealthDirectory,
  Middleware,
} from '../../src/core/kernel/index.ts';
import { diskFiles, sentFiles, type ReadPlaces, type SettingsFiles } from '../../src/core/settings/source/files.ts';
import { createLogger } from '../../src/core/record/log/logger.ts';
import { Explainer } from '../../src/addons/explain/explain/explainer.ts';
import { describeRun } from '../../src/addons/explain/explain/describe/index.ts';
import type { ExplainQuestion } from '../../src/addons/explain/explain/question.ts';
import type { GatewayOptions } from '../../src/core/process/gateway-options.ts';
import type { Watch } from '../../src/core/compose/chain-builder.ts';
import { saidOf, seenAs, sentOf, type FoundResponses, type Notes, type Served } from './agreement-served.ts';
import { logTally, Tally } from './agreement-tally.ts';
import { expectReported, isNews } from './agreement-explained.ts';
import { freezeHealth } from '../../src/addons/explain/explain/frozen.ts';

function isChosen({ question: { method, path, headers, body } }: Served, oneIn: number): boolean {
  if (oneIn === 1) return true;
  const hash = createHash('sha1').update(`${method} ${path} ${headers['x-gateway-config']}\n`);
  return hash.update(body).digest().readUInt32BE() % oneIn === 0;
}

type Instantiate = NonNullable<Watch['instantiate']>;

/** What a gateway had read when it compiled its chains, and what those chains have served. */
interface Version {
  readonly places: ReadPlaces;
  readonly served: Served[];
  /** Requests that have not ended. */
  open: number;
  impure: boolean;
  health: HealthDirectory | undefined;
}

type AgreementSetup = Pick<GatewayOptions, 'configs' | 'env' | 'clock' | 'files'>;

/**
 * Asks explain about every request that a gateway of a test has served, with the same settings, clock, id, draws and health, and with the
 * failures that its attempts met; whatever explain says otherwise fails the test.
 */
export class Agreement {
  readonly tally = new Tally();
  readonly #setup: Omit<AgreementSetup, 'files'>;
  readonly #tell: typeof describeRun;
  /** The gateway's, to be started with. */
  readonly files: LatestFiles;
  readonly #versions: Version[] = [];
  readonly #notes = new WeakMap<Exchange, Notes>();

  readonly #oneIn: number;

  /**
   * @param tell another than explain's own words, to see that they are compared
   * @param oneIn compares one in so many requests, by their hash
   */
  constructor({ files = diskFiles, ...setup }: AgreementSetup, tell: typeof describeRun = describeRun, oneIn = 1) {
    this.#setup = setup;
    this.#tell = tell;
    this.#oneIn = oneIn;
    this.files = new LatestFiles(files);
  }

  readonly watch: Watch = {
    instantiate: async (place, create) => {
      const version = this.#version();
      const middleware = await create();
      if ((!place.builtin && !place.plugin.pure) || place.plugin.services) version.impure = true;
      return this.#noted(place, middleware, version);
    },
    grant: (granted) => {
      const version = this.#version();
      version.health = granted.health ?? version.health;
      const { media, responses } = granted;
      return {
        ...granted,
        ...(responses && { responses: this.#notedResponses(responses) }),
        ...(media && {
          media: {
            inline: (exchange, attempt, resolved) => {
              const fetching = media.inline(exchange, attempt, resolved);
              if (fetching) this.#notes.get(exchange)?.fetching.add(attempt);
              return fetching;
            },
          },
        }),
      };
    },
  };

  /** Compares all that was served; the gateway has come to rest. */
  async check(): Promise<void> {
    const from = performance.now();
    try {
      for (const version of this.#versions) await this.#compare(version);
    } finally {
      this.tally.ms = performance.now() - from;
      logTally(this.tally);
    }
  }

  async #compare({ served: all, places, open, impure }: Version): Promise<void> {
    const served = all.filter((one) => isChosen(one, this.#oneIn));
    if (open > 0) this.tally.leave('a request that has not ended', open);
    if (served.length === 0) return;
    if (impure) return this.tally.leave('a plugin that explain does not run', served.length);
    const { configs, env, clock = systemClock } = this.#setup;
    const files = sentFiles(() => places);
    const explainer = new Explainer({ configs, env, files, clock, log: createLogger({ level: 'silent' }) });
    const known = new Set<string>();
    try {
      for (const one of served) {
        const why = notComparable(one);
        if (why !== undefined) {
          this.tally.leave(why);
          continue;
        }
        const seen = await explainer.observe(one.question);
        if (seen.notes.some((note) => note.includes('does not fetch its access token'))) {
          this.tally.leave('credentials of the machine, which only a gateway that serves looks for');
          continue;
        }
        if (seen.exchange.guards?.some(({ verdict }) => verdict === 'skipped')) {
          this.tally.leave('a guard whose service explain does not ask');
          continue;
        }
        expect({ settings: seen.settings.hash, ...seenAs(seen, one.said) }).toEqual({
          settings: one.settingsHash,
          ...one.said,
        });
        this.tally.compared += 1;
        this.tally.attempts += one.said.attempts.filter(({ outbound }) => outbound).length;
        if (isNews(one, known)) {
          expectReported(this.#tell(seen), { seen, served: one, places });
          this.tally.reported += 1;
        }
      }
    } finally {
      await explainer.close();
    }
  }

  #notedResponses(service: ResponseService): ResponseService {
    const foundBy = (exchange: Exchange): FoundResponses =>
      (this.#notes.get(exchange)!.found ??= { responses: new Map(), items: new Map() });
    const noteFound = async (exchange: Exchange, id: string): Promise<KeptResponse | undefined> => {
      const found = await service.find(exchange, id);
      foundBy(exchange).responses.set(id, found);
      return found;
    };
    return {
      ...service,
      find: noteFound,
      async findItems(exchange, ids) {
        const items = await service.findItems(exchange, ids);
        for (const [id, item] of items) foundBy(exchange).items.set(id, item);
        return items;
      },
      async remove(exchange, id) {
        await noteFound(exchange, id);
        return service.remove(exchange, id);
      },
    };
  }

  /** The version of the settings that are being compiled. */
  #version(): Version {
    const last = this.#versions.at(-1);
    if (last?.places === this.files.current) return last;
    const version: Version = { places: this.files.current, served: [], open: 0, impure: false, health: undefined };
    this.#versions.push(version);
    return version;
  }

  #noted(place: Parameters<Instantiate>[0], plugin: Awaited<ReturnType<Instantiate>>, version: Version) {
    const run = toMiddleware(plugin);
    const name = `${place.plugin.level}:${place.instance}`;
    const of = place.builtin ? place.plugin.name : undefined;
    const noted: Middleware = (ctx, next) => {
      const notes = this.#notes.get(ctx.exchange) ?? this.#begin(ctx, version);
      const reached = notes.reached.get(ctx.attempt) ?? new Set();
      notes.reached.set(ctx.attempt, reached.add(name));
      if (of === 'config') {
        notes.body = copyOf(ctx.exchange.request.body);
        notes.files = ctx.exchange.request.form?.files;
      }
      if (of === 'route') noteHealth(ctx.exchange, notes, version);
      else if (of === 'send' && ctx.attempt) noteSent(ctx.exchange, ctx.attempt, notes);
      return run(ctx, next);
    };
    return noted;
  }

  #begin({ exchange, req }: GatewayContext, version: Version): Notes {
    const notes: Notes = {
      sent: new Map(),
      fetching: new Set(),
      reached: new Map(),
      body: undefined,
      files: undefined,
      health: new Map(),
      found: undefined,
    };
    this.#notes.set(exchange, notes);
    exchange.draws ??= [];
    const pieces = tapBody(req);
    version.open += 1;
    exchange.onEnd(() => {
      version.open -= 1;
      // A large body that its schema refuses never reaches `config`.
      // A request that continues a response is explained from what the client sent and from what was kept then.
      const whole = notes.found ? Buffer.concat(pieces) : (notes.body ?? copyOf(exchange.request.body));
      const body = whole ?? Buffer.concat(pieces);
      const asked = this.#questionOf(exchange, req.url ?? '/', { ...notes, body });
      const { 'content-encoding': _, 'content-length': __, ...headers } = asked.headers;
      const question = whole && !notes.found ? { ...asked, headers } : asked;
      const reached = [undefined, ...exchange.attempts].map((attempt) => [...(notes.reached.get(attempt) ?? [])]);
      version.served.push({ question, reached, settingsHash: exchange.settingsHash, said: saidOf(exchange, notes) });
    });
    return notes;
  }

  #questionOf(
    exchange: Exchange,
    path: string,
    { body = Buffer.alloc(0), files, health, found }: Notes,
  ): ExplainQuestion {
    const { clock = systemClock } = this.#setup;
    const { request, id, draws, startedAt, attempts, error } = exchange;
    return {
      method: request.method,
      path,
      headers: headersOf(exchange),
      body,
      files,
      remoteAddress: request.remoteAddress,
      id,
      draws,
      at: { now: startedAt, wall: clock.wall() - clock.now() + startedAt },
      health,
      found,
      failures: attempts.map(({ error }) => error),
      limited: error?.limit && !error.limit.ofTarget ? error : null,
    };
  }
}

/** Undefined: it must agree. */
function notComparable({ said: { brokenOff, attempts, refused, operation, key } }: Served): string | undefined {
  if (operation?.startsWith('files.') || refused?.startsWith('file_'))
    return 'the store of files decides, for which explain has a fake';
  if (refused === 'store_unavailable') return 'an outage of a store, which explain does not ask';
  if (refused === 'malformed_request') return 'a head that no question to explain can have';
  if (refused === 'missing_api_key') return 'a request without a key: explain assumes a caller without limits';
  if (refused === 'limit_requests' && key === undefined) return 'a limit of an address, which explain does not count';
  return brokenOff !== undefined && attempts.length === 0 ? `${brokenOff} before anything was sent` : undefined;
}

function noteHealth(exchange: Exchange, notes: Notes, { health }: Version): void {
  const { config } = exchange;
  if (health && config) notes.health = freezeHealth(config, (own, target) => health.of(own, target, exchange));
}

/** The first try: a later one may send less because of an answer. */
function noteSent(exchange: Exchange, attempt: Attempt, { sent }: Notes): void {
  if (sent.has(attempt)) return;
  const written = sentOf(exchange, attempt, attempt);
  if (written) sent.set(attempt, written);
}

/** The gateway frees the memory of a body at the end of its request, and that of its pieces before. */
const copyOf = (body: Exchange['request']['body']): Buffer | undefined => body && Buffer.from(body.original);

/** Beyond it a body is not kept twice: it is there when `config` is reached. */
const MAX_TAPPED_BYTES = 1024 * 1024;

/** The parsed body, read or not: a request may be refused before its body arrives. */
function tapBody(req: GatewayContext['req']): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const push = req.push.bind(req);
  req.push = (piece: unknown, ...rest) => {
    if (Buffer.isBuffer(piece) && bytes <= MAX_TAPPED_BYTES) {
      pieces.push(Buffer.from(piece));
      bytes += piece.length;
    }
    return push(piece, ...rest);
  };
  return pieces;
}

const headersOf = ({ request }: Exchange): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, [value].flat().join(', ')]],
    ),
  );

/** What was read last, as one value for as long as nothing is read: the state of the files a load has seen. */
class LatestFiles implements SettingsFiles {
  readonly #files: SettingsFiles;
  readonly #latest: ReadPlaces = { files: new Map(), folders: new Map() };
  #current: ReadPlaces | undefined;

  constructor(files: SettingsFiles) {
    this.#files = files;
  }

  get current(): ReadPlaces {
    return (this.#current ??= { files: new Map(this.#latest.files), folders: new Map(this.#latest.folders) });
  }

  async read(path: string) {
    const answer = await this.#files.read(path);
    this.#latest.files.set(path, answer);
    this.#current = undefined;
    return answer;
  }

  async list(folder: string) {
    const answer = await this.#files.list(folder);
    this.#latest.folders.set(folder, answer);
    this.#current = undefined;
    return answer;
  }
}
