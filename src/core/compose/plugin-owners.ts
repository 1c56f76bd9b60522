import { realpathSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { types } from 'node:util';
import type { LoadFnOutput } from 'node:module';
import { digestOf } from '../kernel/outside/plugin-files.ts';
import { currentWork } from '../kernel/outside/plugin-work.ts';
import { GatewayError } from '../../plugin/index.ts';

/** A file of an external plugin. Keyed by path: all loaded versions of a file are one. */
interface OwnedFile {
  /** The module that owns the file. Its plugin names are known only after it has loaded. */
  readonly module: PluginModule;
  /** The file belongs to a package, which other plugins may use too. */
  readonly shared: boolean;
}

/** A module of server.yaml's `plugins`. */
export interface PluginModule {
  /** The names of its plugins, or the module specifier until those are known. */
  name: string;
  /** The digests of its files by their real paths, where its entry has `integrity`: it may import no other file by its path. */
  readonly files?: ReadonlyMap<string, string> | undefined;
}

/** Limit of tracked files: a plugin may have many dependencies. Files beyond it have no owner. */
const MAX_FILES = 20_000;

/** Node keeps modules for the life of the process, so this map does too. */
const owners = new Map<string, OwnedFile>();

/** The gateway's file that calls into plugins, a chunk with a hash in the bundle. In a stack, the frames below it are callers of the gateway. */
const BOUNDARY = /\/watched-link(?:-[\w-]+)?\.[jt]s$/;

/** Registers a plugin module at this URL, ignoring the query. */
export function ownModule(url: string, name: string, files?: PluginModule['files']): PluginModule {
  const module: PluginModule = { name, files };
  own(realUrl(url), { module, shared: false });
  return module;
}

/** Node loads a module from its real path: a mounted folder of Kubernetes has links alone. */
function realUrl(url: string): string {
  const path = pathOf(url);
  try {
    return path === undefined ? url : pathToFileURL(realpathSync(path)).href;
  } catch {
    // The import reports a file that is not there.
    return url;
  }
}

/**
 * Registers a resolved module as part of the plugin that imports it. Returns the path of a file of the plugin's own.
 * Throws for a file that the plugin's integrity does not cover.
 */
export function ownImport(specifier: string, url: string, parent: string | undefined): string | undefined {
  const owner = parent === undefined ? undefined : owners.get(pathOf(parent) ?? '');
  if (!owner) return undefined;
  const path = pathOf(url);
  const isOwnFile = /^(?:\.{0,2}\/|file:|#)/.test(specifier);
  if (!owners.get(pathOf(url) ?? '')) own(url, { module: owner.module, shared: owner.shared || !isOwnFile });
  if (!isOwnFile || owner.shared || path === undefined) return undefined;
  const { files, name } = owner.module;
  if (files && !files.has(path))
    throw new Error(`the plugin ${name} imports ${specifier}, which its integrity does not cover`);
  return path;
}

/** Throws for a file of a plugin with `integrity` whose bytes are not those that were hashed. */
export function checkedSource(url: string, loaded: LoadFnOutput): LoadFnOutput {
  const path = pathOf(url) ?? '';
  const digest = owners.get(path)?.module.files?.get(path);
  // Node's own loader gives a text or a Buffer.
  if (digest === undefined || digestOf((loaded.source ?? '') as string | Buffer) === digest) return loaded;
  throw new Error(`${path} has changed since its integrity was checked`);
}

function own(url: string, owned: OwnedFile): void {
  const path = pathOf(url);
  if (path !== undefined && (owners.has(path) || owners.size < MAX_FILES)) owners.set(path, owned);
}

function pathOf(url: string): string | undefined {
  try {
    return url.startsWith('file:') ? fileURLToPath(url) : url.startsWith('/') ? url : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The external plugin that caused an uncaught error, by the files in its stack. A stack without a plugin file or a
 * gateway file above the boundary is of the plugin whose callback ran.
 */
export function pluginOf(error: unknown): string | undefined {
  const paths = stackPaths(error);
  const end = paths.findIndex((path) => BOUNDARY.test(path));
  const above = (end < 0 ? paths : paths.slice(0, end)).map((path) => owners.get(path));
  const own = above.find((owned) => owned?.shared === false);
  const running = currentWork()?.plugin;
  if (own) return nameWithin(own.module, running);
  // The end of a request (a client disconnect) reaches a plugin as a rejection without a frame in that plugin's files.
  if (!types.isProxy(error) && error instanceof GatewayError) return running;
  if (paths.some((path) => !owners.has(path))) return undefined;
  return running;
}

/** A module may hold several plugins. The one whose code runs is named if it is one of them. */
const nameWithin = ({ name }: PluginModule, running: string | undefined): string =>
  running !== undefined && name.split(', ').includes(running) ? running : name;

/** Files in an error's stack, from the top, without Node's own. */
const stackPaths = (error: unknown): readonly string[] =>
  stackOf(error)
    .split('\n')
    .flatMap((line) => /^\s+at (?:.* \()?(?:async )?(.+?)(?:\?[^?]*)?:\d+:\d+\)?$/.exec(line)?.[1] ?? [])
    .flatMap((place) => pathOf(place) ?? []);

/** `stack` may have any type, and reading it may throw. */
function stackOf(error: unknown): string {
  try {
    const stack: unknown = !types.isProxy(error) && error instanceof Error ? error.stack : undefined;
    return typeof stack === 'string' ? stack : '';
  } catch {
    return '';
  }
}
