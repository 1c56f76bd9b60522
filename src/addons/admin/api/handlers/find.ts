import type { Call, Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';

const MOST = 50;
/** A name that begins with the text comes before one that only has it. */
const MOST_OF_A_KIND = 10;

interface Found {
  readonly kind: string;
  readonly id: string;
  readonly place?: string;
}

const KINDS = ['configs', 'keys', 'teams', 'organizations', 'budgets', 'prompts'] as const;

/** Objects with the text in their names: for the command palette. */
export const findAnything: Handler = async (call) => {
  const text = call.query.one('q')?.toLowerCase();
  if (text === undefined) throw new ApiProblem('invalid_query', '`q` is needed: a text to find.');
  const record = await call.records.find(call.query.one('q')!);
  const groups = [record ? [{ kind: 'requests', id: call.query.one('q')! }] : [], ...groupsOf(call)];
  return { body: { items: groups.flatMap((group) => fitting(group, text)).slice(0, MOST) } };
};

function groupsOf({ objects, settings }: Call): readonly (readonly Found[])[] {
  const { catalog } = settings;
  return [
    catalog.providers.map(({ slug }) => ({ kind: 'providers', id: slug })),
    catalog.providers.flatMap(({ slug, models = [] }) =>
      models.map((model) => ({ kind: 'models', id: `@${slug}/${model}` })),
    ),
    ...KINDS.map((kind) =>
      objects.names(kind).map((one) => ({
        kind,
        id: one.id,
        place: 'file' in one ? one.file.place : 'store',
      })),
    ),
  ];
}

function fitting(found: readonly Found[], text: string): readonly Found[] {
  const named = found.filter(({ id }) => id.toLowerCase().includes(text));
  const isFirst = ({ id }: Found): boolean => id.toLowerCase().startsWith(text);
  return [...named.filter(isFirst), ...named.filter((one) => !isFirst(one))].slice(0, MOST_OF_A_KIND);
}
