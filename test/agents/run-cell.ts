import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { askGateway } from '../../src/cli/agents/ask-gateway.ts';
import { startGateway } from '../../src/process/gateway.ts';
import { startStrictUpstream, type Play } from '../clients/upstream/strict-upstream.ts';
import { KEY, writeSettings } from '../support/gateway.ts';
import { PNG } from '../clients/words.ts';
import { KEY_ENV, type Agent } from './agent.ts';
import { NOTE, UNKNOWN_MODEL, type Case, type Outcome } from './cases.ts';
import { PICTURE } from './image-cases.ts';
import { INSTALLED } from './install.ts';
import { startTee } from './tee.ts';
import { aliasOf, settingsFor, type UpstreamKind } from './upstreams.ts';

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

/** Runs an agent once, in a home and a working folder of its own. */
export async function runCell({ agent, kind, row }: Cell, stage: Stage): Promise<Outcome> {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-agent-'));
  const work = join(home, 'work');
  mkdirSync(work);
  if (row.image !== undefined) writeFileSync(join(work, PICTURE), Buffer.from(PNG, 'base64'));
  const refused: string[] = [];
  let requests = 0;
  let turns = 0;
  const thought = { kind: kind.thoughts, asked: false, signed: false };
  stage.play = {
    retryAfter: 1,
    refused(message) {
      requests += 1;
      refused.push(message);
    },
    answer(ask, body) {
      requests += 1;
      // Agents have side calls without tools: titles, summaries, the choice of a model.
      if (ask.tools.length === 0) return { thought: undefined, text: 'A title', calls: [] };
      turns += 1;
      thought.asked ||= ask.thinks;
      thought.signed ||= ask.signed;
      return row.model(ask, { nth: turns - 1, tools: agent.tools(work), body });
    },
  };
  const key = row.wrongKey ? 'gatehouse-wrong-key-0123456789' : KEY;
  const model = modelOf({ agent, kind, row });
  const run = {
    url: stage.url,
    model,
    prompt: row.prompt,
    thinking: row.thinking === true,
    sdk: row.sdk,
    image: row.image === 'attached' ? PICTURE : undefined,
    facts: row.alias === undefined ? await factsOf({ url: stage.url, key, model }) : undefined,
  };
  const { program, args, env, files } = agent.start(run);
  for (const { path, text } of files) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  const logged = stage.log.length;
  const from = performance.now();
  try {
    const file = join(INSTALLED, program);
    const [command, first] = program.endsWith('js') ? [process.execPath, [file]] : [file, []];
    const ended = await exec(command, [...first, ...args], {
      cwd: work,
      env: { ...ENVIRONMENT, HOME: home, TMPDIR: home, [KEY_ENV]: key, ...withKey(env, key) },
      limitMs: row.limitMs ?? 60_000,
    });
    const ms = Math.round(performance.now() - from);
    const note = join(work, NOTE);
    // The gateway writes its log for several requests at a time.
    await new Promise((resolve) => setTimeout(resolve, LOG_DELAY_MS));
    return {
      ...ended,
      ms,
      posts: stage.log.slice(logged).filter((line) => line.includes('"method":"POST"')).length,
      note: existsSync(note) ? readFileSync(note, 'utf8') : undefined,
      refused,
      requests,
      turns,
      thought,
    };
  } finally {
    stage.play = SILENT;
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  }
}

const LOG_DELAY_MS = 200;

/** As `gatehouse agent-config` asks, with the key of the run. */
async function factsOf(place: { readonly url: string; readonly key: string; readonly model: string }) {
  const asked = await askGateway(place);
  return asked.kind === 'known' ? asked.facts : undefined;
}

function modelOf({ agent, kind, row }: Cell): string {
  if (row.alias !== undefined) return row.alias;
  if (row.unknownModel) return UNKNOWN_MODEL;
  return (row.direct && agent.direct(kind.target)) ?? aliasOf(kind);
}

/** Nothing of the machine's own environment, which may hold keys. */
const ENVIRONMENT = { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1' };

const withKey = (env: Readonly<Record<string, string>>, key: string) =>
  Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value === `$${KEY_ENV}` ? key : value]));

interface Ended {
  readonly code: number | undefined;
  readonly output: string;
}

interface Execution {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly limitMs: number;
}

/** A helper in a process group of its own outlives the agent and keeps its output open. */
const OUTPUT_AFTER_EXIT_MS = 500;

/** Ends the process and its group after `limitMs`. */
function exec(command: string, args: readonly string[], { cwd, env, limitMs }: Execution): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    const { pid, stdout, stderr } = child;
    if (pid === undefined) return void child.once('error', reject);
    let output = '';
    for (const stream of [stdout, stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      killGroup(pid);
    }, limitMs);
    child.once('exit', () => {
      clearTimeout(timer);
      killGroup(pid);
      setTimeout(() => {
        stdout.destroy();
        stderr.destroy();
      }, OUTPUT_AFTER_EXIT_MS);
    });
    child.once('close', (code) => resolve({ code: late ? undefined : (code ?? 128), output }));
  });
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // All of its processes have ended.
  }
}
