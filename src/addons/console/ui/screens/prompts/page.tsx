import { dataUrl, session } from '../../api/index.ts';
import { address, setQuery } from '../../address.ts';
import { Chip } from '../../parts/chip.tsx';
import { Diff } from '../../parts/diff.tsx';
import { differing } from '../../parts/differing.ts';
import { Tabs, tabOf } from '../../parts/segments.tsx';
import { Command } from '../../parts/states.tsx';
import { Cases } from './cases.tsx';
import { Editor } from './editor.tsx';
import { codeOf, labelsOf, linesOfVersion, numbersOf, specOf, type Spec } from './prompt.ts';
import { VersionActions } from './save.tsx';
import { Beside, typedValues, workedVersion, workOf, type Of, type PromptProps } from './work.tsx';

const TABS = [
  ['edit', 'Edit'],
  ['cases', 'Cases'],
  ['diff', 'Difference'],
  ['code', 'Code'],
] as const;

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
  const tab = tabOf(TABS);
  const work = workOf(prompt.id);
  const worked = workedVersion(spec, work, number);
  const of = { prompt, spec, number, beside, work, worked, onChange };
  return (
    <div class="body stack prompt">
      <VersionLine spec={spec} number={number} />
      <VersionActions {...of} />
      <Tabs of={TABS} />
      {tab === 'edit' && <Editor {...of} />}
      {tab === 'cases' && <Cases {...of} />}
      {tab === 'diff' && <Difference {...of} />}
      {tab === 'code' && <Code {...of} />}
    </div>
  );
}

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

function Difference({ spec, number, beside, worked }: Of) {
  const old = spec.versions[beside];
  if (typeof worked === 'string') return <p class="notice failed">{worked}</p>;
  if (!old) return <p class="notice failed">There is no version {beside}.</p>;
  const lines = differing(linesOfVersion(old), linesOfVersion(worked));
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
