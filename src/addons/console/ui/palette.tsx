import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { go } from './address.ts';
import { api, ask, useLoad } from './api/index.ts';
import type { ApiSchemas } from './api/shapes.ts';
import { Dialog } from './parts/dialog.tsx';
import { ALL_PLACES } from './nav.tsx';
import { Problem } from './parts/states.tsx';

const PAUSE_MS = 150;

interface Goal {
  readonly kind: string;
  readonly name: string;
  readonly to: string;
}

const FIXED: readonly Goal[] = [
  ...ALL_PLACES.map(({ name, path }) => ({ kind: 'screen', name, to: path })),
  { kind: 'do', name: 'Add a provider', to: '/providers?add=1' },
  { kind: 'do', name: 'Create a key', to: '/keys?add=1' },
  { kind: 'do', name: 'Create a prompt', to: '/prompts?add=1' },
  { kind: 'do', name: 'Create a token', to: '/people?add=1' },
  { kind: 'do', name: 'Test a webhook', to: '/alerts?tab=webhooks' },
];

/** Where an object is shown; others are found where requests name them. */
const SHOWN: Readonly<Record<string, string>> = {
  keys: '/keys?key=',
  teams: '/keys?node=team:',
  organizations: '/keys?node=organization:',
  budgets: '/keys?q=',
  providers: '/providers?entry=',
  requests: '/requests?row=',
  configs: '/configs?q=',
  models: '/requests?model=',
  prompts: '/prompts?row=',
};

const goalsOf = (found: readonly ApiSchemas['found'][]): readonly Goal[] =>
  found.flatMap(({ kind, id }) => {
    const to = SHOWN[kind];
    return to === undefined ? [] : [{ kind: kind.replace(/s$/, ''), name: id, to: to + encodeURIComponent(id) }];
  });

function useGoals(words: string, asked: string) {
  const found = useLoad(asked === '' ? undefined : asked, (signal) =>
    ask(api.GET('/find', { params: { query: { q: asked } }, signal })),
  );
  const fixed = FIXED.filter(({ name }) => name.toLowerCase().includes(words.toLowerCase().trim()));
  const objects = asked === '' ? [] : goalsOf(found.state.value.data?.items ?? []);
  return { goals: [...fixed, ...objects].slice(0, 12), error: found.state.value.error, retry: found.reload };
}

/** Screens, actions and objects by a part of their names. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [words, asked, at] = [useSignal(''), useSignal(''), useSignal(0)];
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { goals, error, retry } = useGoals(words.value, asked.value);
  const take = (goal: Goal | undefined): void => {
    if (!goal) return;
    onClose();
    go(goal.to);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') take(goals[at.value]);
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    at.value = (at.value + by + goals.length) % Math.max(1, goals.length);
  };
  const type = (text: string): void => {
    words.value = text;
    at.value = 0;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => (asked.value = text.trim()), PAUSE_MS);
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        role="combobox"
        aria-label="A screen, an action, or a part of a name"
        aria-expanded="true"
        aria-controls="goals"
        aria-activedescendant={`goal-${at.value}`}
        placeholder="A screen, an action, a key, a team, a model, the id of a request"
        autocomplete="off"
        maxLength={256}
        autofocus
        onInput={(event) => type(event.currentTarget.value)}
        onKeyDown={press}
      />
      {error && <Problem error={error} retry={retry} />}
      <ul id="goals" class="options" role="listbox" aria-label="Found" hidden={goals.length === 0}>
        {goals.map((goal, index) => (
          <li
            key={goal.to}
            id={`goal-${index}`}
            role="option"
            aria-selected={index === at.value}
            onClick={() => take(goal)}
          >
            <span class="grow cut">{goal.name}</span> <span class="third">{goal.kind}</span>
          </li>
        ))}
      </ul>
      {goals.length === 0 && <p class="second">Nothing has this in its name.</p>}
    </Dialog>
  );
}
