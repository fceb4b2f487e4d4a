import { onBeforeUnmount, onMounted, type Ref, ref, watch } from 'vue';
import { usePlayer } from '../playground/player.ts';

/**
 * Plays again and again while the element is on the screen, until the visitor pauses it. Visitors who prefer reduced motion see the still
 * picture until they press Play.
 * @param length of the film, ms
 * @param still the moment of the still picture, ms
 */
export function useFilm(element: Readonly<Ref<Element | undefined>>, length: number, still: number) {
  const { at, playing, play, pause } = usePlayer(() => length, { from: still, loop: true });
  const wanted = ref(false);
  const visible = ref(false);
  let observer: IntersectionObserver | undefined;
  let motion: MediaQueryList | undefined;

  const prefer = ({ matches }: { readonly matches: boolean }) => {
    wanted.value = !matches;
    at.value = matches ? still : at.value;
  };
  onMounted(() => {
    motion = matchMedia('(prefers-reduced-motion: reduce)');
    motion.addEventListener('change', prefer);
    prefer(motion);
    observer = new IntersectionObserver(([entry]) => {
      visible.value = entry!.isIntersecting;
    });
    observer.observe(element.value!);
  });
  onBeforeUnmount(() => {
    motion?.removeEventListener('change', prefer);
    observer?.disconnect();
  });
  watch([wanted, visible], ([isWanted, isVisible]) => (isWanted && isVisible ? play() : pause()));
  const toggle = () => {
    wanted.value = !wanted.value;
  };
  return { at, playing, toggle };
}
