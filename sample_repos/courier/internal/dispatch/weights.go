package dispatch

import "fmt"

// Weights 是打分各项的权重，单位是“分”。正项满分合计约 100，
// 罚项（Late、Retried）从总分里扣。
type Weights struct {
	Proximity float64 `json:"proximity"` // 新增里程越短越好
	Balance   float64 `json:"balance"`   // 手上的单比平均少
	Capacity  float64 `json:"capacity"`  // 车型与剩余空间是否合适
	Slack     float64 `json:"slack"`     // 下班前还有多少余量
	Rating    float64 `json:"rating"`    // 评分
	Late      float64 `json:"late"`      // 罚：插入后的时间窗违约
	Retried   float64 `json:"retried"`   // 罚：该骑手曾投递失败
}

// DefaultWeights is the tuning of the pilot city.
var DefaultWeights = Weights{
	Proximity: 44, Balance: 20, Capacity: 10, Slack: 10, Rating: 16,
	Late: 45, Retried: 20,
}

// Validate rejects negative weights; a penalty is subtracted, not negative.
func (w Weights) Validate() error {
	for _, v := range []float64{w.Proximity, w.Balance, w.Capacity, w.Slack, w.Rating, w.Late, w.Retried} {
		if v < 0 {
			return fmt.Errorf("dispatch: negative weight in %+v", w)
		}
	}
	if w.Proximity == 0 {
		return fmt.Errorf("dispatch: weight proximity must not be zero")
	}
	return nil
}
