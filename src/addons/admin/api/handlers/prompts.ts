import { GatewayError } from '../../../../plugin/index.ts';
import { isObject } from '../../../../core/kernel/index.ts';
import { partOf } from '../../../../core/process/add-on-parts.ts';
import type { EntityDoc } from '../../../../core/ports/entities.ts';
import type { PromptPort } from '../../../../core/ports/prompts.ts';
import { reasonOf, type Call, type Handler } from '../call.ts';
import { IN_STORE, type OwnedObject } from '../objects.ts';
import { ApiProblem } from '../problems.ts';
import { checkReferences } from '../references.ts';
import { checkAgainst, invalidBody } from '../schemas.ts';
import { patchOf, shownDraft } from './drafts.ts';
import { answerWith } from './object-answers.ts';
import { putOf, toChange, write } from './objects.ts';
import { writtenOf } from './settings.ts';

/** Throws where the build has none. */
export function promptsOf(): PromptPort {
  const port = partOf('prompts');
  if (port) return port;
  throw new ApiProblem('not_found', 'This build has no add-on prompts.');
}

interface Release {
  readonly version: number;
  readonly reason?: string;
}

interface Promotion extends Release {
  readonly label: string;
}

const change =
  <Body extends Release>(edit: (spec: EntityDoc, body: Body, call: Call) => EntityDoc): Handler =>
  async (call) => {
    const { id, spec, entity } = toChange('prompts', call);
    // Valid by the schema of the route.
    const body = call.body as Body;
    const doc = edit(spec, body, call);
    checkReferences('prompts', id, doc, call);
    const parts = { kind: 'prompts', id, spec: doc, digests: undefined, ifVersion: entity.version } as const;
    return answerWith(await write(putOf({ ...parts, reason: reasonOf(call, body.reason) }), call), call);
  };

export const releasePrompt = change<Release>(released);
export const promotePrompt = change<Promotion>(promoted);

/** A version that is released already stays as it is. */
function released(spec: EntityDoc, { version }: Release, { settings }: Call): EntityDoc {
  const found = versionIn(spec, version);
  const digest = found['digest'] ?? promptsOf().digest(spec, version, settings);
  return { ...spec, versions: { ...Object(spec['versions']), [version]: { ...found, digest } } as EntityDoc };
}

function promoted(spec: EntityDoc, { version, label }: Promotion): EntityDoc {
  if (versionIn(spec, version)['digest'] === undefined)
    throw invalidBody([
      { pointer: '/version', message: `version ${version} is a draft, which may still change: release it first` },
    ]);
  return { ...spec, labels: { ...Object(spec['labels'] ?? {}), [label]: version } as EntityDoc };
}

/** @param version a number or a label; undefined: the latest. Throws `not_found`. */
const versionIn = (spec: EntityDoc, version: string | number | undefined): EntityDoc => versionOf(spec, version).found;

function versionOf(
  { versions, labels }: EntityDoc,
  wanted: string | number | undefined = 'latest',
): { readonly number: number; readonly found: EntityDoc } {
  const all = new Map(Object.entries(isObject(versions) ? versions : {}));
  const labelled = new Map<string, unknown>(Object.entries(isObject(labels) ? labels : {}));
  const latest = Math.max(...[...all.keys()].map(Number));
  const number = Number(wanted === 'latest' ? latest : (labelled.get(String(wanted)) ?? wanted));
  const found = all.get(String(number));
  if (isObject(found)) return { number, found };
  throw new ApiProblem('not_found', `The prompt has no version or label "${wanted}".`);
}

export interface OfPrompt {
  readonly version?: string;
  readonly draft?: EntityDoc;
}

interface Asked {
  /** Undefined: it is not saved. */
  readonly number: number | undefined;
  readonly version: EntityDoc;
}

/** A saved version, or one that is not saved, with its mistakes as those of the body at `pointer`. */
export function askedVersion({ version, draft }: OfPrompt, call: Call, pointer: string): Asked {
  if (draft === undefined) {
    const { number, found } = versionOf(call.objects.get('prompts', call.id).spec, version);
    return { number, version: found };
  }
  checkSpec({ versions: { 1: draft } }, call, pointer);
  return { number: undefined, version: draft };
}

function checkSpec(spec: EntityDoc, { id, settings }: Call, pointer: string): void {
  checkAgainst('prompt_spec', spec, pointer);
  const problems = promptsOf().check(id, spec, settings);
  if (problems.length > 0)
    throw invalidBody(
      problems.map(({ path, message }) => ({ pointer: `${pointer}/${path.slice(2).join('/')}`, message })),
    );
}

export const renderPrompt: Handler = (call) => {
  const { variables = {}, ...of } = call.body as OfPrompt & { readonly variables?: Readonly<Record<string, unknown>> };
  const { number, version } = askedVersion(of, call, '/draft');
  try {
    return { body: { version: number ?? null, request: promptsOf().render(version, variables, call.settings) } };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw invalidBody([{ pointer: `/${(error.param ?? 'variables').replaceAll('.', '/')}`, message: error.message }]);
  }
};

interface NewPromptBody {
  readonly id: string;
  readonly spec?: EntityDoc;
  readonly release?: number;
  readonly promote?: { readonly version: number; readonly label: string };
}

/** A prompt of a file is changed by a patch of it. */
export const draftPrompt: Handler = async (call) => {
  const { id, spec, release, promote } = call.body as NewPromptBody;
  const known = call.objects.find('prompts', id);
  if (known?.owner === IN_STORE) throw new ApiProblem('exists', `The prompt "${id}" is in the store: change it there.`);
  let doc = spec ?? baseOf(known);
  if (release !== undefined) doc = released(doc, { version: release }, call);
  if (promote) doc = promoted(doc, promote);
  checkReferences('prompts', id, doc, call);
  const file = `prompts/${id}.yaml`;
  const before = (await writtenOf(call)).file(file)?.text ?? '';
  const text = promptsOf().write(before, doc);
  if (text === undefined)
    throw new ApiProblem('cannot_patch', `The change of ${file} cannot be written as a patch: change it by hand.`);
  return { body: await shownDraft(call, await patchOf(call, { [file]: text })) };
};

function baseOf(known: OwnedObject | undefined): EntityDoc {
  if (known) return known.spec;
  throw new ApiProblem('not_found', 'There is no prompt with this id: send it as `spec`.');
}
