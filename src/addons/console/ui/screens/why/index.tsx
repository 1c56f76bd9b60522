import { session, useLoad } from '../../api/index.ts';
import { address, setQuery } from '../../address.ts';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Chip } from '../../parts/chip.tsx';
import { Code } from '../../parts/code.tsx';
import { Head } from '../../parts/head.tsx';
import { Loads } from '../../parts/states.tsx';
import { Segments } from '../../parts/segments.tsx';
import { useKeys } from '../../parts/shortcuts.ts';
import { Tests } from '../../parts/tests.tsx';
import { TurnOn } from '../../parts/turn-on.tsx';
import { loadFile, loadWhy, type WhyData } from './load.ts';
import { stepsOf, type WhyStep } from './path.ts';
import { TABS, TabPanel, type TabName } from './tabs.tsx';
import { WhatIf } from './what-if.tsx';

/** Which line of the settings sent a request where. */
export const Why = ({ id }: { readonly id: string }) => (id === '' ? <WhatIf /> : <WhyRequest id={id} />);

function WhyRequest({ id }: { readonly id: string }) {
  const load = useLoad(id, (signal) => loadWhy(id, signal));
  const { data } = load.state.value;
  const last = data?.request.attempts.at(-1);
  useKeys({ Escape: () => history.back() });
  const to = last?.request_model;
  const code = data?.request.error?.code;
  return (
    <>
      <Head
        title={to !== undefined ? `Why this request went to ${to}` : code ? `Why this request ended in ${code}` : 'Why'}
        actions={
          <>
            <ButtonLink label="Record" href={`#/requests?row=${encodeURIComponent(id)}`} />
            <Button
              label="What if…"
              pressed={tabOf() === 'what-if'}
              onClick={() => setQuery({ tab: tabOf() === 'what-if' ? undefined : 'what-if' })}
            />
          </>
        }
      />
      <div class="body">
        <Loads of={load}>
          {(found) => (tabOf() === 'what-if' ? <WhatIf from={found} /> : <Explained data={found} />)}
        </Loads>
      </div>
    </>
  );
}

const tabOf = (): TabName | 'what-if' | null => address.value.query.get('tab') as TabName | 'what-if' | null;

function Explained({ data }: { readonly data: WhyData }) {
  const steps = stepsOf(data.request, data);
  const { query } = address.value;
  const chosen = steps.find((step) => step.id === query.get('step')) ?? steps.find(({ decides }) => decides);
  const tab = tabOf() ?? 'path';
  return (
    <div class="why">
      <div class="stack">
        <ol class="steps">
          {steps.map((step) => (
            <Step key={step.id} step={step} isChosen={step === chosen} />
          ))}
        </ol>
        {!data.explanation && <NotKept data={data} />}
      </div>
      <div class="stack">
        <Segments
          label="What to show"
          of={TABS}
          chosen={tab}
          onChoose={(name) => setQuery({ tab: name === 'path' ? undefined : name })}
        />
        {tab === 'path' ? (
          <File steps={steps} chosen={chosen} hash={data.settingsHash} />
        ) : (
          <TabPanel name={tab as TabName} data={data} />
        )}
      </div>
    </div>
  );
}

function Step({ step, isChosen }: { readonly step: WhyStep; readonly isChosen: boolean }) {
  const { id, title, lines, tests, place, tone, chip, decides } = step;
  return (
    <li class={`step ${tone}${decides ? ' decides' : ''}`}>
      <div class={`card${isChosen ? ' chosen' : ''}`}>
        <p class="row step-title">
          <span class="grow strong">{title}</span>
          {chip !== undefined && <Chip tone={tone}>{chip}</Chip>}
          {place && (
            <Button
              label={`${place.file}:${place.line}`}
              kind="place"
              pressed={isChosen}
              onClick={() => setQuery({ step: id, tab: undefined })}
            />
          )}
        </p>
        {lines.map((line) => (
          <p key={line} class="second">
            {line}
          </p>
        ))}
        <Tests tests={tests} />
      </div>
    </li>
  );
}

/** The file of the chosen step: its line is marked, other lines of the way are tinted. */
function File({
  steps,
  chosen,
  hash,
}: {
  readonly steps: readonly WhyStep[];
  readonly chosen: WhyStep | undefined;
  readonly hash: string;
}) {
  const place = chosen?.place ?? steps.findLast((step) => step.place)?.place;
  const load = useLoad(place && `${place.file} ${hash}`, async (signal) => ({
    file: place && (await loadFile(place.file, hash, signal)),
  }));
  if (!place)
    return (
      <p class="card second">No line of the settings decided: the request names its target, or was refused before.</p>
    );
  const tinted = steps.flatMap((step) => (step.place?.file === place.file ? [step.place.line] : []));
  return (
    <Loads of={load}>
      {({ file }) =>
        file ? (
          <section class="card file" aria-label={place.file}>
            <p class="file-head mono">
              <a href={`#/configs?${new URLSearchParams({ file: place.file, line: `${place.line}` }).toString()}`}>
                {place.file}:{place.line}
              </a>
            </p>
            <Code
              text={file.text}
              label={`${place.file}, line ${place.line} is marked`}
              tinted={tinted}
              marked={place.line}
            />
          </section>
        ) : (
          <p class="card">The settings have changed since: the text of {place.file} of that time is not kept.</p>
        )
      }
    </Loads>
  );
}

function NotKept({ data }: { readonly data: WhyData }) {
  const explain = session.value?.features.explain;
  return (
    <div class="stack tight">
      <p class="second">
        The body of this request is not kept:{' '}
        {Object.keys(data.places).length > 0
          ? 'the places are those of its settings.'
          : 'and its settings have changed since.'}
      </p>
      {explain !== 'all' && <TurnOn feature="explain">Keep the last 100 requests of each process</TurnOn>}
    </div>
  );
}
