import { onBeforeUnmount, ref } from 'vue';

/**
 * The moment that is shown, ms from the start of a run, and what moves it.
 * @param from the first moment that is shown; the end, unless given
 * @param loop begin again at the end, instead of stopping
 */
export function usePlayer(length: () => number, { from = length(), loop = false } = {}) {
  const at = ref(from);
  const playing = ref(false);
  let frame = 0;

  function pause(): void {
    playing.value = false;
    cancelAnimationFrame(frame);
  }

  function play(): void {
    if (playing.value) return;
    if (at.value >= length()) at.value = 0;
    playing.value = true;
    let before = globalThis.performance.now();
    const step = (now: number) => {
      const next = at.value + Math.max(0, now - before);
      at.value = loop ? next % length() : Math.min(length(), next);
      before = now;
      if (at.value >= length()) pause();
      else frame = requestAnimationFrame(step);
    };
    frame = requestAnimationFrame(step);
  }

  onBeforeUnmount(pause);
  return { at, playing, play, pause, toggle: () => (playing.value ? pause() : play()) };
}
