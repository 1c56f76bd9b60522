import {
  mergeEdits,
  mergeLevels,
  type Edit,
  type RequestBody,
  type Spellings,
  type Target,
} from '../../src/plugin/index.ts';

type Path = readonly string[];

/** One edit, in every spelling of its field, and the synonyms that it removes. */
interface Change {
  /** One for each spelling of its field, the one that the settings write first. */
  readonly spelled: readonly Edit[];
  readonly synonyms: readonly Edit[];
}

/** The changes that a target makes to bodies of one API, worked out once. */
export interface Changes {
  /** Only where the request leaves the field out; null is OpenAI's way of leaving it out. */
  readonly beneath: readonly Change[];
  readonly laidOver: readonly Change[];
  /** Fields that are taken out whatever the request says in them. */
  readonly dropped: ReadonlySet<string>;
}

export function compileChanges(target: Target, spellings: Spellings): Changes {
  const { defaultParams = {}, overrideLevels, dropParams, path } = target;
  const drops = dropParams.map((field): Edit => ({ path: field, value: undefined, source: `${path} drop_params` }));
  const defaults = mergeEdits(defaultParams, `${path} default_params`).filter(({ value }) => value !== undefined);
  const overrides = mergeLevels(overrideLevels, `${path} override_params`);
  const change = (edit: Edit, own: readonly Edit[]): Change => {
    const others = spellings.synonymsOf(edit.path).filter((other) => !own.some((one) => overlap(one.path, other)));
    return {
      spelled: spellings.of(edit.path).map((spelled) => ({ ...edit, path: spelled })),
      synonyms: others.map((other) => ({ path: other, value: undefined, source: edit.source })),
    };
  };
  return {
    beneath: defaults.map((edit) => change(edit, [])),
    // What the target itself sets is no synonym that the caller has slipped in.
    laidOver: [
      ...overrides.map((edit) => change(edit, overrides)),
      ...drops.map((edit) => change(edit, [...overrides, ...defaults])),
    ],
    dropped: new Set(drops.map((edit) => edit.path.join('.'))),
  };
}

/** The body as the target wants it. */
export function applyChanges(body: RequestBody, { beneath, laidOver, dropped }: Changes): RequestBody {
  const counts = ({ path }: Edit): boolean => !dropped.has(path.join('.')) && !isUnsaid(body, path);
  const filled = body.edit(
    beneath.flatMap(({ spelled, synonyms }) =>
      spelled.some(({ path }) => !isUnsaid(body, path)) || synonyms.some(counts) ? [] : [inSpellingOf(body, spelled)],
    ),
  );
  return filled.edit(
    laidOver.flatMap(({ spelled, synonyms }) => {
      const edit = inSpellingOf(filled, spelled);
      const replaced = [...spelled, ...synonyms].filter(({ path }) => path !== edit.path && !isUnsaid(filled, path));
      return [...replaced.map((other): Edit => ({ ...other, value: undefined })), edit];
    }),
  );
}

const overlap = (one: Path, other: Path): boolean =>
  one.every((key, index) => index >= other.length || other[index] === key);

/** The edit in the spelling that the body uses, as far as it has objects on the way: beside `generation_config` no `generationConfig` is made. */
function inSpellingOf(body: RequestBody, spelled: readonly Edit[]): Edit {
  let best = spelled[0]!;
  if (spelled.length === 1) return best;
  let deepest = 0;
  for (const edit of spelled) {
    const depth = depthIn(body, edit.path);
    if (depth > deepest) [best, deepest] = [edit, depth];
  }
  return best;
}

/** Keys of the path that the body has. */
function depthIn(body: RequestBody, [key = '', ...inner]: Path): number {
  if (!body.has(key)) return 0;
  let value = body.value(key);
  let depth = 1;
  for (const name of inner) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return depth;
    value = value[name];
    depth += 1;
  }
  return depth;
}

/** A value of another type on the way (text where the default has an object) counts as set; validation reports it. */
function isUnsaid(body: RequestBody, [key = '', ...inner]: Path): boolean {
  let value = body.has(key) ? body.value(key) : undefined;
  for (const name of inner) {
    if (value === undefined || value === null) return true;
    if (!isObject(value)) return false;
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value === undefined || value === null;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
