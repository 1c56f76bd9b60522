import { signal, type Signal } from '@preact/signals';
import { dataUrl } from '../../api/curl.ts';
import { session } from '../../api/session.ts';
import { address, setQuery } from '../../address.ts';
import { Chip } from '../../parts/chip.tsx';
import { Diff } from '../../parts/diff.tsx';
import { diffLines } from '../../parts/diff.ts';
import { Choice, TextArea, TextField } from '../../parts/fields.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Command } from '../../parts/states.tsx';
import { Cases } from './cases.tsx';
import { Editor } from './editor.tsx';
import { createCaseRun, type PromptCase } from './run.ts';
import { VersionActions } from './save.tsx';
import {
  codeOf,
  kindOf,
  labelsOf,
  linesOfVersion,
  numbersOf,
  optionsOf,
  specOf,
  startOf,
  valuesOf,
  versionOf,
  type Edited,
  type Prompt,
  type Spec,
  type Version,
} from './prompt.ts';

export interface PromptProps {
  readonly prompt: Prompt;
  readonly onChange: () => void;
}

const TABS = [
  ['edit', 'Edit'],
  ['cases', 'Cases'],
  ['diff', 'Difference'],
  ['code', 'Code'],
] as const;

/** What a person has typed about a prompt. It lives as long as the page: texts are in no address and no storage. */
export interface Work {
  /** By the number of the version. */
  readonly edits: Signal<Readonly<Record<number, Edited>>>;
  /** Values of the form, as they are typed. */
  readonly values: Signal<Readonly<Record<string, string>>>;
  readonly cases: Signal<readonly PromptCase[]>;
  readonly run: ReturnType<typeof createCaseRun>;
}

/** Of the prompts that were opened last. */
const kept = new Map<string, Work>();
const MOST_KEPT = 20;

function workOf(id: string): Work {
  const work = kept.get(id) ?? { edits: signal({}), values: signal({}), cases: signal([]), run: createCaseRun() };
  kept.delete(id);
  kept.set(id, work);
  const [first] = kept.keys();
  if (kept.size > MOST_KEPT && first !== undefined) kept.delete(first);
  return work;
}

/** The version with what a person has changed of it; the text of a mistake. */
export function workedVersion(spec: Spec, { edits }: Work, number: number): Version | string {
  const saved = spec.versions[number] ?? {};
  const draft = edits.value[number];
  try {
    return draft ? versionOf(draft) : saved;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The number that the address has under a name, if the prompt has it. */
function numberIn(spec: Spec, name: string, otherwise: number): number {
  const number = Number(address.value.query.get(name));
  return spec.versions[number] ? number : otherwise;
}

export function PromptPage({ prompt, onChange }: PromptProps) {
  const spec = specOf(prompt);
  const numbers = numbersOf(spec);
  const number = numberIn(spec, 'v', numbers[0] ?? 1);
  const beside = numberIn(spec, 'with', numbers.find((one) => one < number) ?? number);
  const tab = TABS.find(([name]) => name === address.value.query.get('tab'))?.[0] ?? 'edit';
  const work = workOf(prompt.id);
  const worked = workedVersion(spec, work, number);
  const of = { prompt, spec, number, beside, work, worked, onChange };
  return (
    <div class="body stack prompt">
      <VersionLine spec={spec} number={number} />
      <VersionActions {...of} />
      <Segments label="Shown" of={TABS} chosen={tab} onChoose={(name) => setQuery({ tab: name })} />
      {tab === 'edit' && <Editor {...of} />}
      {tab === 'cases' && <Cases {...of} />}
      {tab === 'diff' && <Difference {...of} />}
      {tab === 'code' && <Code {...of} />}
    </div>
  );
}

export type Of = PromptProps & {
  readonly spec: Spec;
  readonly number: number;
  readonly beside: number;
  readonly work: Work;
  readonly worked: Version | string;
};

/** The versions from the first to the latest, each with its labels. */
const VersionLine = ({ spec, number }: Pick<Of, 'spec' | 'number'>) => (
  <ol class="versions" aria-label="Versions">
    {numbersOf(spec)
      .toReversed()
      .map((one) => {
        const isReleased = spec.versions[one]?.digest !== undefined;
        return (
          <li key={one}>
            <button type="button" aria-pressed={one === number} onClick={() => setQuery({ v: String(one) })}>
              <strong>{one}</strong>
              <Chip tone={isReleased ? 'ok' : 'plain'}>{isReleased ? 'released' : 'draft'}</Chip>
            </button>
            {labelsOf(spec, one).map((label) => (
              <span key={label} class="second">
                @{label}
              </span>
            ))}
          </li>
        );
      })}
  </ol>
);

export const Beside = ({ spec, beside }: Pick<Of, 'spec' | 'beside'>) => (
  <Choice
    title="Beside the version"
    of={{
      get value() {
        return String(beside);
      },
      set value(one) {
        setQuery({ with: one });
      },
    }}
    options={numbersOf(spec).map(String)}
  />
);

function Difference({ spec, number, beside, worked }: Of) {
  const old = spec.versions[beside];
  if (typeof worked === 'string' || !old) return <p class="notice failed">{String(worked)}</p>;
  const lines = diffLines(linesOfVersion(old), linesOfVersion(worked));
  return (
    <section class="stack" aria-label="Difference">
      <Beside spec={spec} beside={beside} />
      {lines.length === 0 ? (
        <p class="second">
          The versions {beside} and {number} have the same lines.
        </p>
      ) : (
        <Diff label={`From ${beside} to ${number}`} lines={lines} />
      )}
    </section>
  );
}

/** The variables of a version, with fields that their schemas ask for. */
export function ValueFields({ worked, work: { values } }: Pick<Of, 'worked' | 'work'>) {
  if (typeof worked === 'string') return null;
  return (
    <>
      {Object.entries(worked.variables ?? {}).map(([name, variable]) => {
        const of = {
          get value() {
            return values.value[name] ?? startOf(variable);
          },
          set value(next) {
            values.value = { ...values.value, [name]: next };
          },
        };
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
export function typedValues({ worked, work }: Pick<Of, 'worked' | 'work'>): Readonly<Record<string, unknown>> | string {
  if (typeof worked === 'string') return worked;
  try {
    return valuesOf(worked, work.values.value);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function Code({ prompt, spec, number, ...of }: Of) {
  const values = typedValues(of);
  const name = `${prompt.id}@${labelsOf(spec, number)[0] ?? number}`;
  return (
    <section class="stack" aria-label="Code">
      {codeOf(dataUrl(session.value), name, typeof values === 'string' ? {} : values).map(([title, text]) => (
        <section key={title} class="stack tight">
          <h2 class="small">{title}</h2>
          <Command text={text} label={title} />
        </section>
      ))}
    </section>
  );
}
