package route

// 2-opt 路径优化。
//
// 从最近邻初始解出发，反复尝试把路径中的一段 [i, j] 反转，
// 只要总成本（行驶时间加时间窗惩罚）下降就接受。起点固定、终点自由，
// 所以反转末段同样有效。成本含时间窗，反转会改变后面所有站的到达时刻，
// 因此不能只比较两条边，必须整条重算。

// maxPasses 限制扫描轮数；实测 60 站以内四轮之后基本不再改善。
const maxPasses = 6

// minGain 以下的改善视为浮点噪声，避免来回翻转造成死循环。
const minGain = 1e-6

// TwoOpt improves a tour by reversing segments while that lowers its cost.
// The result never costs more than the tour it was given.
func TwoOpt(m CostModel, start Start, tour []Stop) Plan {
	best := m.Evaluate(start, tour)
	for pass := 0; pass < maxPasses; pass++ {
		improved := false
		for i := 0; i < len(tour)-1; i++ {
			for j := i + 1; j < len(tour); j++ {
				candidate := m.Evaluate(start, reversed(best.Stops(), i, j))
				if candidate.Cost < best.Cost-minGain {
					best, improved = candidate, true
				}
			}
		}
		if !improved {
			break
		}
	}
	return best
}

// reversed returns a copy of the tour with the segment i..j turned around.
func reversed(tour []Stop, i, j int) []Stop {
	out := append([]Stop(nil), tour...)
	for i < j {
		out[i], out[j] = out[j], out[i]
		i++
		j--
	}
	return out
}
