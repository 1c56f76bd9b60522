import '../support/add-ons.ts';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { askGateway } from '../../src/addons/agent-config/ask-gateway.ts';
import { startGateway } from '../../src/core/process/gateway.ts';
import { startStrictUpstream, type Play } from '../clients/upstream/strict-upstream.ts';
import { KEY, writeSettings } from '../support/gateway.ts';
import { PNG } from '../clients/words.ts';
import { KEY_ENV, type Agent, type Start } from './agent.ts';
import { NOTE, UNKNOWN_MODEL, type Case, type Outcome } from './cases.ts';
import { exec, type Ended } from './exec.ts';
import { PICTURE } from './image-cases.ts';
import { INSTALLED } from './install.ts';
import { startTee } from './tee.ts';
import { aliasOf, settingsFor, smallOf, type UpstreamKind } from './upstreams.ts';

/** One gateway and one upstream for all runs of a process. */
export interface Stage {
  readonly url: string;
  play: Play;
  /** The lines of the gateway's log, one for each request that has ended. */
  readonly log: readonly string[];
  close(): Promise<void>;
}

const SILENT: Play = { answer: () => 404 };

/** `dump`: a file for all messages between agents, gateway and upstream. */
export async function openStage(dump?: string): Promise<Stage> {
  const stage: Pick<Stage, 'play'> = { play: SILENT };
  const upstream = await startStrictUpstream(() => stage.play);
  const { settings, env } = settingsFor(upstream.url);
  const configs = writeSettings(settings);
  const log: string[] = [];
  const gateway = await startGateway({ configs, env, logTo: { write: (line) => void log.push(line) } });
  const tee = dump === undefined ? undefined : await startTee(gateway.data.url);
  return Object.assign(stage, {
    url: tee?.url ?? gateway.data.url,
    log,
    async close() {
      tee?.close();
      const seen = upstream.seen.map(({ url, headers, text }) => ({ url, headers, body: text }));
      if (dump !== undefined) writeFileSync(dump, JSON.stringify({ agent: tee?.said, upstream: seen }, null, 1));
      await gateway.close();
      await upstream.close();
      rmSync(configs, { recursive: true, force: true });
    },
  });
}

export interface Cell {
  readonly agent: Agent;
  readonly kind: UpstreamKind;
  readonly row: Case;
}

/** Runs an agent, in a home and a working folder of its own. */
export async function runCell(cell: Cell, stage: Stage): Promise<Outcome> {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-agent-'));
  const work = join(home, 'work');
  mkdirSync(work);
  if (cell.row.image !== undefined) writeFileSync(join(work, PICTURE), Buffer.from(PNG, 'base64'));
  const { play, seen } = playOf(cell, work);
  stage.play = play;
  const logged = stage.log.length;
  const from = performance.now();
  try {
    const ended = await runs(cell, stage.url, home);
    const ms = Math.round(performance.now() - from);
    const note = join(work, NOTE);
    // The gateway writes its log for several requests at a time.
    await new Promise((resolve) => setTimeout(resolve, LOG_DELAY_MS));
    return {
      ...ended,
      ...seen,
      ms,
      paths: stage.log.slice(logged).flatMap(pathOfPost),
      note: existsSync(note) ? readFileSync(note, 'utf8') : undefined,
    };
  } finally {
    stage.play = SILENT;
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** The model of the case, and what it has seen. */
function playOf({ agent, kind, row }: Cell, work: string) {
  const tools = agent.tools(work);
  const seen = {
    refused: [] as string[],
    requests: 0,
    turns: 0,
    thought: { kind: kind.thoughts, asked: false, signed: false },
  };
  const play: Play = {
    retryAfter: 1,
    refused(message) {
      seen.requests += 1;
      seen.refused.push(message);
    },
    answer(ask, body) {
      seen.requests += 1;
      const summary = row.summary?.(ask);
      if (summary) return summary;
      // Agents have side calls without tools: titles, the choice of a model.
      if (ask.tools.length === 0) return { thought: undefined, text: 'A title', calls: [] };
      seen.turns += 1;
      seen.thought.asked ||= ask.thinks;
      seen.thought.signed ||= ask.signed;
      return row.model(ask, { nth: seen.turns - 1, tools, body });
    },
  };
  return { play, seen };
}

/** One run for each prompt of the case. The result is that of the last one that ran. */
async function runs(cell: Cell, url: string, home: string): Promise<Ended> {
  const { agent, row } = cell;
  const key = row.wrongKey ? 'gatehouse-wrong-key-0123456789' : KEY;
  const model = modelOf(cell);
  const run = {
    url,
    model,
    prompt: row.prompt,
    thinking: row.thinking === true,
    resumes: false,
    sdk: row.sdk?.package,
    provider: row.provider,
    image: row.image === 'attached' ? PICTURE : undefined,
    facts: row.alias === undefined ? await factsOf({ url, key, model }) : undefined,
  };
  const limitMs = row.limitMs ?? 60_000;
  const first = await start(agent.start(run), { home, key, limitMs });
  if (row.nextPrompt === undefined || first.code !== 0) return first;
  return start(agent.start({ ...run, prompt: row.nextPrompt, resumes: true }), { home, key, limitMs });
}

interface Place {
  readonly home: string;
  readonly key: string;
  readonly limitMs: number;
}

function start({ program, args, env, files }: Start, { home, key, limitMs }: Place): Promise<Ended> {
  for (const { path, text } of files) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const file = join(INSTALLED, program);
  const [command, first] = program.endsWith('js') ? [process.execPath, [file]] : [file, []];
  return exec(command, [...first, ...args], {
    cwd: join(home, 'work'),
    env: { ...ENVIRONMENT, HOME: home, TMPDIR: home, [KEY_ENV]: key, ...withKey(env, key) },
    limitMs,
  });
}

function pathOfPost(line: string): readonly string[] {
  const { method, path } = JSON.parse(line) as { readonly method?: string; readonly path?: string };
  return method === 'POST' && path !== undefined ? [path] : [];
}

const LOG_DELAY_MS = 200;

/** As `gatehouse agent-config` asks, with the key of the run. */
async function factsOf(place: { readonly url: string; readonly key: string; readonly model: string }) {
  const asked = await askGateway(place);
  return asked.kind === 'known' ? asked.facts : undefined;
}

function modelOf({ agent, kind, row }: Cell): string {
  if (row.alias) return row.alias(kind);
  if (row.unknownModel) return UNKNOWN_MODEL;
  if (row.small) return smallOf(kind);
  return (row.direct && agent.direct(kind.target)) ?? aliasOf(kind);
}

/** Nothing of the machine's own environment, which may hold keys. */
const ENVIRONMENT = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1' };

const withKey = (env: Readonly<Record<string, string>>, key: string) =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value === `$${KEY_ENV}` ? key : value]));
