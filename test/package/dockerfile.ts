/** Follows a Dockerfile without a container engine: each stage is a folder, and its steps run in it as a user without rights. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, cpSync, globSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

type Step = readonly [instruction: string, rest: string];

interface Stage {
  readonly from: string;
  readonly name: string;
  readonly steps: readonly Step[];
}

/** Comments and continued lines are joined as Docker joins them. */
export function readDockerfile(text: string): readonly Stage[] {
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n/g, ' ');
  const steps = [...lines.matchAll(/^([A-Z]+)\s+(.+)$/gm)].map(([, name, rest]): Step => [name!, rest!.trim()]);
  const stages: { from: string; name: string; steps: Step[] }[] = [];
  for (const step of steps) {
    const [, from, name] = step[0] === 'FROM' ? (/^(\S+)(?: AS (\S+))?$/.exec(step[1]) ?? []) : [];
    if (from !== undefined) stages.push({ from, name: name ?? `${stages.length}`, steps: [] });
    else stages.at(-1)?.steps.push(step);
  }
  return stages;
}

export interface Machine {
  /** The folder of `docker build`. */
  readonly context: string;
  /** Holds one folder for each stage. */
  readonly stages: string;
  /** `PATH` and what else the base image sets. */
  readonly env: Readonly<Record<string, string>>;
  /** Undefined: the test has no rights to give up. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

export interface Image {
  /** The folder that is `/` in the container. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly stopSignal: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthCheck: readonly string[];
  /** A word of a command as this machine has it: paths of the image lead into its folder. */
  readonly here: (word: string) => string;
}

const PATHS = /^\/(?:opt|etc|var)\//;

/** Follows the steps of all stages. Throws for a step that fails, and for an instruction that it does not know. */
export function buildImage(text: string, machine: Machine): Image {
  const stages = readDockerfile(text);
  let image: Image | undefined;
  for (const stage of stages) image = buildStage(stage, machine);
  if (!image) throw new Error('The Dockerfile has no stage.');
  return image;
}

function buildStage({ name, steps }: Stage, machine: Machine): Image {
  const root = join(machine.stages, name);
  let workdir = root;
  const args: Record<string, string> = {};
  const env: Record<string, string> = {};
  const said: Record<string, string> = {};
  for (const [instruction, rest] of steps) {
    if (instruction === 'WORKDIR') {
      workdir = join(root, rest);
      mkdirSync(workdir, { recursive: true });
      own(workdir, machine);
    } else if (instruction === 'ARG') Object.assign(args, pairsOf(rest));
    else if (instruction === 'ENV') Object.assign(env, pairsOf(rest));
    else if (instruction === 'COPY') copy(rest, { root, workdir }, machine);
    else if (instruction === 'RUN') runStep(rest, { cwd: workdir, env: { ...machine.env, ...env, ...args }, machine });
    else if (/^(?:USER|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD)$/.test(instruction)) said[instruction] = rest;
    else throw new Error(`unknown instruction ${instruction}`);
  }
  const { USER: user = 'root', STOPSIGNAL: stopSignal = 'SIGTERM', ENTRYPOINT = '[]', CMD = '[]' } = said;
  return {
    root,
    env,
    user,
    stopSignal,
    entrypoint: JSON.parse(ENTRYPOINT) as string[],
    command: JSON.parse(CMD) as string[],
    healthCheck: JSON.parse(/ CMD (\[.*\])$/.exec(said['HEALTHCHECK'] ?? '')?.[1] ?? '[]') as string[],
    here: (word) => (PATHS.test(word) ? join(root, word) : word),
  };
}

const pairsOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...text.matchAll(/(\w+)=("[^"]*"|\S+)/g)].map(([, key, value]) => [key!, value!.replaceAll('"', '')]),
  );

interface Folders {
  readonly root: string;
  readonly workdir: string;
}

function copy(rest: string, { root, workdir }: Folders, machine: Machine): void {
  const [, stage, owner, from = '', to = ''] = /^(?:--from=(\S+) )?(?:--chown=(\S+) )?(\S+) (\S+)$/.exec(rest) ?? [];
  const base = stage === undefined ? machine.context : join(machine.stages, stage);
  const found = globSync(from.replace(/^\//, ''), { cwd: base });
  if (found.length === 0) throw new Error(`COPY ${rest} finds nothing`);
  for (const name of found) {
    // A folder is copied as its content, a file into the folder that ends with a slash.
    const into = to.startsWith('/') ? join(root, to) : join(workdir, to);
    const target = stage === undefined ? join(into, basename(name)) : into;
    cpSync(join(base, name), target, { recursive: true, verbatimSymlinks: true });
    if (stage === undefined || owner !== undefined) own(target, machine);
  }
}

function runStep(
  command: string,
  {
    cwd,
    env,
    machine,
  }: { readonly cwd: string; readonly env: Readonly<Record<string, string>>; readonly machine: Machine },
): void {
  const { status, stdout, stderr } = spawnSync('sh', ['-ec', command], {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 120_000,
    ...machine.user,
  });
  if (status !== 0) throw new Error(`RUN ${command} ended with ${status}: ${stdout}${stderr}`);
}

const own = (path: string, { user }: Machine): void => {
  if (user) chownSync(path, user.uid, user.gid);
};

/** Takes the right to write from all files, as of a root that is mounted read-only; or gives it back, to remove them. */
export function setWritable(folder: string, isWritable: boolean): void {
  chmodSync(folder, isWritable ? 0o755 : 0o555);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) setWritable(path, isWritable);
    else if (!entry.isSymbolicLink()) chmodSync(path, isWritable ? 0o644 : 0o444);
  }
}
