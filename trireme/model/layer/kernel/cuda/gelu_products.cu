#include "trireme/model/layer/kernel/gelu_products.h"

#include "trireme/device/cuda/launch.cuh"
#include "trireme/device/cuda/missing.h"

#if __has_include(<cublasLt.h>)

#include <cublasLt.h>
#include <dlfcn.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace trireme::model::kernel {
namespace {

const void* const kSomewhere = reinterpret_cast<const void*>(std::uintptr_t{4096});

void expect(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(ErrorCode::Io, std::string("cuBLASLt: ") + what + ": status " +
                                 std::to_string(static_cast<int>(status)));
}

// The functions of the library that PyTorch has loaded.
struct Library {
#define TRIREME_FUNCTION(NAME)     \
  decltype(&cublasLt##NAME) NAME = \
      reinterpret_cast<decltype(&cublasLt##NAME)>(dlsym(RTLD_DEFAULT, "cublasLt" #NAME))
  TRIREME_FUNCTION(Create);
  TRIREME_FUNCTION(Matmul);
  TRIREME_FUNCTION(MatmulAlgoGetHeuristic);
  TRIREME_FUNCTION(MatmulDescCreate);
  TRIREME_FUNCTION(MatmulDescSetAttribute);
  TRIREME_FUNCTION(MatmulPreferenceCreate);
  TRIREME_FUNCTION(MatmulPreferenceDestroy);
  TRIREME_FUNCTION(MatmulPreferenceSetAttribute);
  TRIREME_FUNCTION(MatrixLayoutCreate);
#undef TRIREME_FUNCTION

  bool is_whole() const {
    return Create && Matmul && MatmulAlgoGetHeuristic && MatmulDescCreate &&
           MatmulDescSetAttribute && MatmulPreferenceCreate && MatmulPreferenceDestroy &&
           MatmulPreferenceSetAttribute && MatrixLayoutCreate;
  }
};

// Of column-major matrices: d (m, n) = op(a) b, where op(a) is (m, k).
struct Shape {
  bool is_gradient = false;
  std::int64_t m = 0, n = 0, k = 0;
};

struct Plan {
  cublasLtMatmulDesc_t how = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
  cublasLtMatmulAlgo_t algorithm{};
};

struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
  const void* bias = nullptr;    // a gradient of it is written
  const void* before = nullptr;  // written forward
  void* workspace = nullptr;
};

// Of one thread and its devices.
class Products {
 public:
  static Products& mine() {
    thread_local Products* const products = new Products();
    return *products;
  }

  // Null if there is no library or no algorithm.
  const Plan* find(const Shape& shape, const Stream& stream) {
    if (!library_.is_whole()) return nullptr;
    cuda::check(cudaSetDevice(stream.device.index), "selecting a GPU");
    const auto key = std::tuple(stream.device.index, shape.is_gradient, shape.m, shape.n, shape.k);
    auto found = plans_.find(key);
    if (found == plans_.end()) found = plans_.emplace(key, plan(shape, stream)).first;
    return found->second ? &*found->second : nullptr;
  }

  void run(const Plan& plan, const Operands& all, const Stream& stream) {
    set(plan.how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, all.bias);
    set(plan.how, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, all.before);
    const float one = 1, zero = 0;
    expect(library_.Matmul(handle(stream), plan.how, &one, all.a, plan.a, all.b, plan.b, &zero,
                           all.d, plan.d, all.d, plan.d, &plan.algorithm, all.workspace,
                           kWorkspaceBytes, static_cast<cudaStream_t>(stream.handle)),
           "a product with GELU");
  }

 private:
  cublasLtHandle_t handle(const Stream& stream) {
    cublasLtHandle_t& handle = handles_[stream.device.index];
    if (handle == nullptr) expect(library_.Create(&handle), "beginning");
    return handle;
  }

  template <class T>
  void set(cublasLtMatmulDesc_t how, cublasLtMatmulDescAttributes_t name, const T& value) {
    expect(library_.MatmulDescSetAttribute(how, name, &value, sizeof(value)), "describing");
  }

  cublasLtMatrixLayout_t layout(std::int64_t rows, std::int64_t columns) {
    cublasLtMatrixLayout_t made = nullptr;
    expect(library_.MatrixLayoutCreate(&made, CUDA_R_16BF, static_cast<std::uint64_t>(rows),
                                       static_cast<std::uint64_t>(columns), rows),
           "describing a matrix");
    return made;
  }

  std::optional<Plan> plan(const Shape& shape, const Stream& stream) {
    Plan plan;
    expect(library_.MatmulDescCreate(&plan.how, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing");
    const cublasOperation_t turned = shape.is_gradient ? CUBLAS_OP_N : CUBLAS_OP_T;
    set(plan.how, CUBLASLT_MATMUL_DESC_TRANSA, turned);
    const cublasLtEpilogue_t end =
        shape.is_gradient ? CUBLASLT_EPILOGUE_DGELU_BGRAD : CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
    set(plan.how, CUBLASLT_MATMUL_DESC_EPILOGUE, end);
    set(plan.how, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, shape.m);
    // The choice of an algorithm reads how these addresses are aligned, and nothing there.
    set(plan.how, CUBLASLT_MATMUL_DESC_BIAS_POINTER, kSomewhere);
    set(plan.how, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, kSomewhere);
    plan.a = shape.is_gradient ? layout(shape.m, shape.k) : layout(shape.k, shape.m);
    plan.b = layout(shape.k, shape.n);
    plan.d = layout(shape.m, shape.n);
    if (!choose(plan, stream)) return std::nullopt;
    return plan;
  }

  bool choose(Plan& plan, const Stream& stream) {
    cublasLtMatmulPreference_t wanted = nullptr;
    expect(library_.MatmulPreferenceCreate(&wanted), "describing");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t name, const auto& value) {
      expect(library_.MatmulPreferenceSetAttribute(wanted, name, &value, sizeof(value)),
             "describing");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(kWorkspaceBytes));
    // Of the weight and of the activations that go in; all else is allocated for these products.
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, std::uint32_t{16});
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, std::uint32_t{16});
    cublasLtMatmulHeuristicResult_t best{};
    int count = 0;
    const cublasStatus_t status =
        library_.MatmulAlgoGetHeuristic(handle(stream), plan.how, plan.a, plan.b, plan.d, plan.d,
                                        wanted, /*requestedAlgoCount=*/1, &best, &count);
    library_.MatmulPreferenceDestroy(wanted);
    plan.algorithm = best.algo;
    return status == CUBLAS_STATUS_SUCCESS && count > 0;
  }

  Library library_;
  std::map<int, cublasLtHandle_t> handles_;  // by device
  std::map<std::tuple<int, bool, std::int64_t, std::int64_t, std::int64_t>, std::optional<Plan>>
      plans_;
};

Shape forward_of(const GeluSizes& sizes) {
  return {.is_gradient = false, .m = sizes.hidden, .n = sizes.rows, .k = sizes.inputs};
}

Shape gradient_of(const GeluSizes& sizes) {
  return {.is_gradient = true, .m = sizes.hidden, .n = sizes.rows, .k = sizes.outputs};
}

void run(const Shape& shape, const Operands& all, const Stream& stream) {
  Products& products = Products::mine();
  const Plan* const plan = products.find(shape, stream);
  if (plan == nullptr) throw Error(ErrorCode::Unsupported, "cuBLASLt has no such product");
  products.run(*plan, all, stream);
}

}  // namespace

bool has_gelu_products(const GeluSizes& sizes, const Stream& stream) {
  if (sizes.rows == 0 || (sizes.inputs | sizes.hidden | sizes.outputs) % 8 != 0) return false;
  return Products::mine().find(forward_of(sizes), stream) != nullptr &&
         Products::mine().find(gradient_of(sizes), stream) != nullptr;
}

void gelu_product(const GeluProduct& all, const Stream& stream) {
  run(forward_of(all.sizes),
      {.a = all.weight,
       .b = all.x,
       .d = all.y,
       .bias = all.bias,
       .before = all.before,
       .workspace = all.workspace},
      stream);
}

void gelu_product_gradient(const GeluProductGradient& all, const Stream& stream) {
  run(gradient_of(all.sizes),
      {.a = all.weight,
       .b = all.of_result,
       .d = all.of_before,
       .bias = all.of_bias,
       .before = all.before,
       .workspace = all.workspace},
      stream);
}

}  // namespace trireme::model::kernel

#else

namespace trireme::model::kernel {

bool has_gelu_products(const GeluSizes&, const Stream&) {
  return false;
}

void gelu_product(const GeluProduct&, const Stream&) {
  cuda::throw_missing("products with GELU");
}

void gelu_product_gradient(const GeluProductGradient&, const Stream&) {
  cuda::throw_missing("products with GELU");
}

}  // namespace trireme::model::kernel

#endif
