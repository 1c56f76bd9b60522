import { signal, type Signal } from '@preact/signals';
import { createRun, type Run } from '../../api/index.ts';
import { setQuery } from '../../address.ts';
import { Choice, fieldOf, TextArea, TextField } from '../../parts/fields.tsx';
import { holdsDrafts } from '../../parts/unsaved.ts';
import {
  kindOf,
  numbersOf,
  optionsOf,
  startOf,
  valuesOf,
  variablesOf,
  versionOf,
  type EditedVersion,
  type Prompt,
  type Spec,
  type PromptVersion,
} from './prompt.ts';

export interface PromptProps {
  readonly prompt: Prompt;
  readonly onChange: () => void;
}

/** The outcome of one case with one version. */
export interface CaseOutcome {
  readonly case: number;
  readonly version: number;
  readonly ok: boolean | null;
  readonly ms?: number;
  readonly text?: string;
  readonly problem?: string;
  readonly tokens?: { readonly input?: number; readonly output?: number };
  readonly request_id?: string;
}

interface CaseEvents {
  readonly case: CaseOutcome;
}

export interface PromptCase {
  readonly variables: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** JSON. */
  readonly schema: string;
}

/** Edits that a person has typed about a prompt. It lives as long as the page: texts are in no address and no storage. */
interface Work {
  /** By the number of the version. */
  readonly edits: Signal<Readonly<Record<number, EditedVersion>>>;
  /** Values of the form, as they are typed. */
  readonly values: Signal<Readonly<Record<string, string>>>;
  readonly cases: Signal<readonly PromptCase[]>;
  readonly run: Run<CaseEvents>;
}

/** Of the prompts that were opened last. */
const kept = new Map<string, Work>();
const MOST_KEPT = 20;
holdsDrafts(() => [...kept.values()].some(({ edits }) => Object.keys(edits.value).length > 0));

export function workOf(id: string): Work {
  const work = kept.get(id) ?? {
    edits: signal({}),
    values: signal({}),
    cases: signal([]),
    run: createRun<CaseEvents>(`/prompts/${encodeURIComponent(id)}:run`),
  };
  kept.delete(id);
  kept.set(id, work);
  const [first] = kept.keys();
  if (kept.size > MOST_KEPT && first !== undefined) kept.delete(first);
  return work;
}

/** The result, or the mistake. */
function orWords<Made>(make: () => Made): Made | string {
  try {
    return make();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The version with what a person has changed of it; the text of a mistake. */
export function workedVersion(spec: Spec, { edits }: Work, number: number): PromptVersion | string {
  const draft = edits.value[number];
  return draft ? orWords(() => versionOf(draft)) : (spec.versions[number] ?? {});
}

export type Of = PromptProps & {
  readonly spec: Spec;
  readonly number: number;
  readonly beside: number;
  readonly work: Work;
  readonly worked: PromptVersion | string;
};

export const Beside = ({ spec, beside }: Pick<Of, 'spec' | 'beside'>) => (
  <Choice
    title="Beside the version"
    of={fieldOf(
      () => String(beside),
      (one) => setQuery({ with: one }),
    )}
    options={numbersOf(spec).map(String)}
  />
);

/** The variables of a version, with fields that their schemas ask for. */
export function ValueFields({ worked, work: { values } }: Pick<Of, 'worked' | 'work'>) {
  if (typeof worked === 'string') return null;
  return (
    <>
      {variablesOf(worked).map(([name, variable]) => {
        const of = fieldOf(
          () => values.value[name] ?? startOf(variable),
          (text) => void (values.value = { ...values.value, [name]: text }),
        );
        const kind = kindOf(variable);
        const title = `${name}${variable.description === undefined ? '' : `: ${variable.description}`}`;
        if (kind === 'choice' || kind === 'flag')
          return <Choice key={name} title={title} of={of} options={optionsOf(variable)} none="the default" />;
        if (kind === 'number') return <TextField key={name} title={title} of={of} max={32} />;
        return <TextArea key={name} title={kind === 'json' ? `${title} (JSON)` : title} of={of} rows={2} />;
      })}
    </>
  );
}

/** The values of the form, or what is wrong with one of them. */
export const typedValues = ({
  worked,
  work,
}: Pick<Of, 'worked' | 'work'>): Readonly<Record<string, unknown>> | string =>
  typeof worked === 'string' ? worked : orWords(() => valuesOf(worked, work.values.value));
